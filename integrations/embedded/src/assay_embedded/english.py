"""Word lists and endings of English that the features go by."""

from __future__ import annotations


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


ABBREVIATIONS = _words(
    """mr mrs ms dr prof st vs etc e.g i.e cf inc ltd co corp jr sr u.s u.k fig figs al approx dept est gen gov sen
    rep rev lt col sgt capt jan feb mar apr jun jul aug sept sep oct nov dec p.m a.m ph.d vol pp ed eds mt ft"""
)

STOP = _words(
    """a an the and or but if then of in on at to for from by with as is are was were be been being am it its this that
    these those he she they him his her hers them their theirs we us you i me my our your not no nor do does did done
    has have had having will would can could may might shall should must also which who whom whose what when where why
    how than so such into onto over under about after before between among through during against more most other
    another some any all each every both either neither there here up down out off very just only own same while
    because since until though although however s t d re ve ll m o upon per via yet still too"""
)

NEGATIONS = _words("not no never none nobody nothing neither nor cannot without hardly barely")

NUMBER_WORDS = {
    word: str(value)
    for value, group in enumerate(
        ("zero", "one", "two second twice", "three third", "four fourth", "five fifth", "six sixth", "seven seventh",
         "eight eighth", "nine ninth", "ten tenth", "eleven eleventh", "twelve twelfth", "thirteen", "fourteen",
         "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty")
    )
    for word in group.split()
}  # fmt: skip

NO_MISMATCH = _words("one second")  # rarely meant as numbers ("no one", "a second opinion"): never reported missing

# words that often open a sentence, so with a capital, and are no names
STARTERS = _words(
    """people many today several scientists researchers according despite later early first finally overall recent
    furthermore moreover therefore thus hence meanwhile instead yes okay sure well great good new old officials police
    experts students children women men users customers companies patients studies research results evidence data
    doctors teachers critics fans members players workers authorities everyone someone anyone something everything like
    unlike let once even much few less fewer within around together along across besides almost perhaps maybe please
    thanks sorry hello hi oh wow cool half part one two three four five six seven eight nine ten lots plenty others
    certain various different life time work music food water history science art love sports school family question
    answer context passage document documents text article author authors paper report summary note yesterday tomorrow
    earlier afterwards long big small large high low young local national international public private video man woman
    girl boy child person there's it's that's he's she's they're we're you're i'm i've i'd"""
)

# endings that mark a capitalised first word as an ordinary one
PLAIN_ENDINGS = ("ing", "ly", "ed", "tion", "tions", "ists", "ments", "ment", "ities", "ness", "ers", "ous", "ful")

ENDINGS = ("ingly", "edly", "ings", "ing", "ies", "ied", "ed", "es", "ly", "s")  # cut off, the first that fits
