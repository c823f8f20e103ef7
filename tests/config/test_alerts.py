"""Alert rules in a configuration: what they say, what is wrong with them, and where a file that was found may send."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.config import Config, configuration
from assay.config.keys import ALLOW, check_alerts, destinations
from assay.errors import InputError
from assay.live.alerts.rules import AlertTarget

RULE = """
[[alerts]]
name = "low"
run = "shop"
metric = "faithfulness"
below = 0.8
"""
WHOLE = """
language = "en"

[[alerts]]
name = "faithfulness fell"
run = "shop"
metric = "faithfulness"
drop = 0.05
false_alarms = 0.01
period = "28d"
window = "7d"
min_rows = 200
slices = ["version", "language"]
where = { channel = "web" }
cluster = "conversation"
quiet = "6h"
to = ["webhook:https://hooks.example.com/T0KEN", "slack:env:SLACK_URL", "log", "otel", "prometheus"]
secret_env = "HOOK_SECRET"
include_text = true
link = "https://rows.example/{run}/{row}"
"""


def written(folder: Path, text: str, *, named: bool = False) -> Config:
    (folder / "assay.toml").write_text(text, encoding="utf-8")
    found = configuration("assay.toml" if named else None, folder=folder)
    assert found is not None
    return found


def test_all_that_a_rule_may_say(tmp_path: Path) -> None:
    (rule,) = written(tmp_path, WHOLE).alerts
    assert (rule.name, rule.run, rule.metric, rule.kind, rule.limit) == (
        "faithfulness fell", "shop", "faithfulness", "drop", 0.05)  # fmt: skip
    assert (rule.false_alarms, rule.period_days, rule.window, rule.min_rows, rule.quiet) == (
        0.01, 28.0, 7 * 86400.0, 200, 6 * 3600.0)  # fmt: skip
    assert (rule.slices, rule.where, rule.cluster) == (("version", "language"), {"channel": "web"}, "conversation")
    assert (rule.secret_env, rule.include_text, rule.link) == ("HOOK_SECRET", True, "https://rows.example/{run}/{row}")
    assert rule.to == (
        AlertTarget("webhook", "https://hooks.example.com/T0KEN"),
        AlertTarget("slack", variable="SLACK_URL"),
        AlertTarget("log"),
        AlertTarget("otel"),
        AlertTarget("prometheus"),
    )
    assert "T0KEN" not in repr(rule)


def test_what_a_rule_need_not_say(tmp_path: Path) -> None:
    (rule,) = written(tmp_path, RULE).alerts
    assert (rule.kind, rule.limit, rule.window, rule.min_rows, rule.quiet) == ("below", 0.8, 86400.0, 30, 0.0)
    assert (rule.to, rule.include_text, rule.slices) == ((AlertTarget("log"),), False, ())
    assert str(rule) == "low: faithfulness of shop below 0.8 in 24h"


def test_a_project_file_has_rules_too(tmp_path: Path) -> None:
    text = RULE.replace("[[alerts]]", "[[tool.assay.alerts]]") + "abov = 1\n"
    (tmp_path / "pyproject.toml").write_text(text)
    with pytest.raises(
        InputError, match=r"pyproject.toml: \[\[tool.assay.alerts\]\] abov line 7: there is no such key"
    ):
        configuration(folder=tmp_path)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ("belo = 1\n", "[[alerts]] belo line 7: there is no such key; did you mean 'below'?"),
        ("above = 0.9\n", "[[alerts]] line 2: it has below and above; give one of below, above, drop"),
        ('[[alerts]]\nname = "x"\n', "[[alerts]] line 7: it has no condition; give one of below, above, drop"),
        ("[[alerts]]\nbelow = 1\n", "[[alerts]] line 7: it has no name"),
        (RULE, "[[alerts]] name line 9: the name 'low' is used twice"),
        ("false_alarms = 0.1\n", "[[alerts]] false_alarms line 7: goes with drop"),
        ('window = "1y"\n', "[[alerts]] window line 7: expected a time such as 90s, 10m, 1h or 90d, got '1y'"),
        ("window = 0\n", "[[alerts]] window line 7: expected at least 1, got 0"),
        ("quiet = true\n", "[[alerts]] quiet line 7: expected a time such as 90s"),
        ("min_rows = 0\n", "[[alerts]] min_rows line 7: expected a whole number of at least 1, got 0"),
        ('to = "mail:me"\n', "[[alerts]] to line 7: expected webhook, slack, log, otel, prometheus, got 'mail'"),
        ('to = "log:x"\n', "[[alerts]] to line 7: log has no address"),
        ('to = "webhook:ftp://x"\n', "[[alerts]] to line 7: webhook: expected an http or https address"),
        ('to = "slack:https://me:hunter2@x/"\n', "[[alerts]] to line 7: slack: expected an address without user"),
        ('secret = "x"\n', "[[alerts]] secret line 7: secrets do not belong in a file; secret_env names the variable"),
        ('secret_env = "x"\n', "[[alerts]] secret_env line 7: goes with a webhook"),
        ('link = "https://x/{run}"\n', "[[alerts]] link line 7: expected an address with {row}"),
        ('link = "javascript:{row}"\n', "[[alerts]] link line 7: expected an http or https address"),
        ("[alerts.where]\nx = 3\n", "[[alerts]] where x line 8: expected"),
        ("slices = 3\n", "[[alerts]] slices line 7: expected a text, or a list of texts, got a number, 3"),
    ],
)
def test_a_mistake_is_named_with_its_line(tmp_path: Path, more: str, said: str) -> None:
    with pytest.raises(InputError) as caught:
        written(tmp_path, RULE + more)
    assert f"assay.toml: {said}" in str(caught.value)
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize("text", ["alerts = 3", "alerts = [3]", '[alerts]\nname = "x"', '[alerts.x]\nname = "x"'])
def test_what_is_no_array_of_tables(tmp_path: Path, text: str) -> None:
    with pytest.raises(InputError, match=r"line 1: expected tables, \[\[alerts\]\]"):
        written(tmp_path, text)


@pytest.mark.parametrize(
    ("kind", "limit", "said"),
    [("below", 1.2, "expected 0 to 1, got 1.2"), ("drop", 1.0, "less than 1, the range"), ("drop", 0.0, "above 0")],
)
def test_the_limit_of_a_known_metric_is_in_its_range(tmp_path: Path, kind: str, limit: float, said: str) -> None:
    with pytest.raises(InputError, match=f"line 6: .*{said}"):
        written(tmp_path, RULE.replace("below = 0.8", f"{kind} = {limit}"))
    unknown = RULE.replace("faithfulness", "our_own_rating").replace("0.8", "4.5")
    assert written(tmp_path, unknown).alerts[0].limit == 4.5


# ---- where alerts may go


def test_a_file_that_was_found_sends_nothing_to_an_address_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv(ALLOW, raising=False)
    for address in ("webhook:https://evil.example/x", "slack:https://evil.example/x"):
        text = f'{RULE}to = ["log", "{address}"]\n'
        with pytest.raises(InputError, match=r"to line 7: alerts are not sent to https://evil\.example:443: you did"):
            check_alerts(written(tmp_path, text))
        check_alerts(written(tmp_path, text, named=True))
    check_alerts(written(tmp_path, f'{RULE}to = ["log", "otel", "prometheus"]\n'))


def test_an_address_in_the_environment_is_the_users_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OUR_CHAT", "https://chat.example/x")
    check_alerts(written(tmp_path, f'{RULE}to = "slack:env:OUR_CHAT"\n'))


def test_a_secret_goes_where_the_user_allows_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OUR_HOOK", "https://hooks.example/x")
    for address in ("env:OUR_HOOK", "https://hooks.example/x"):
        signed = written(tmp_path, f'{RULE}to = "webhook:{address}"\nsecret_env = "OUR_SECRET"\n')
        monkeypatch.setenv(ALLOW, "OUR_SECRET@other.example")
        with pytest.raises(InputError, match=r"set ASSAY_ALLOW_KEYS=OUR_SECRET@hooks\.example:443"):
            check_alerts(signed)
        monkeypatch.setenv(ALLOW, "OUR_SECRET@hooks.example")
        check_alerts(signed)


def test_who_is_to_trust_a_file_sees_where_alerts_go(tmp_path: Path) -> None:
    assert destinations(written(tmp_path, WHOLE)) == [
        "send alerts to https://hooks.example.com:443, with texts of rows",
        "sign alerts to https://hooks.example.com:443 with the secret in HOOK_SECRET",
        "send alerts to the address in SLACK_URL, with texts of rows",
    ]
    assert destinations(written(tmp_path, RULE)) == []
