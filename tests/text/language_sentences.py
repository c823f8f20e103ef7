"""Sentences in twenty-three languages, written for these tests: of the kind that stands in manuals and answers.

Eight a language, of no corpus and of one hand, so they show that languages are told apart, not how well this goes on
anybody's texts. Rows are made of two or three of them: see `rows`.
"""

from __future__ import annotations

from itertools import combinations

SENTENCES: dict[str, tuple[str, ...]] = {
    "es": (
        "La biblioteca municipal abre todos los días a las nueve de la mañana.",
        "El contrato puede cancelarse sin costo durante los primeros treinta días.",
        "Según el informe, las ventas crecieron más rápido que el año anterior.",
        "Para cambiar la contraseña hay que entrar en el menú de ajustes.",
        "El puente fue construido hace dos siglos y sigue en uso.",
        "Los pacientes deben tomar la medicina después de cada comida.",
        "El tren sale de la estación central con diez minutos de retraso.",
        "No se encontró ningún documento que responda a esta pregunta.",
    ),
    "fr": (
        "La bibliothèque municipale ouvre tous les jours à neuf heures du matin.",
        "Le contrat peut être résilié sans frais pendant les trente premiers jours.",
        "Selon le rapport, les ventes ont augmenté plus vite que l'année précédente.",
        "Pour changer le mot de passe, il faut ouvrir le menu des réglages.",
        "Le pont a été construit il y a deux siècles et sert encore.",
        "Les patients doivent prendre le médicament après chaque repas.",
        "Le train part de la gare centrale avec dix minutes de retard.",
        "Aucun document ne permet de répondre à cette question.",
    ),
    "de": (
        "Die Stadtbibliothek öffnet jeden Tag um neun Uhr morgens.",
        "Der Vertrag kann in den ersten dreißig Tagen kostenlos gekündigt werden.",
        "Laut dem Bericht sind die Verkäufe schneller gewachsen als im Vorjahr.",
        "Um das Passwort zu ändern, öffnet man das Menü mit den Einstellungen.",
        "Die Brücke wurde vor zwei Jahrhunderten gebaut und wird noch benutzt.",
        "Die Patienten sollen das Medikament nach jeder Mahlzeit einnehmen.",
        "Der Zug verlässt den Hauptbahnhof mit zehn Minuten Verspätung.",
        "Es wurde kein Dokument gefunden, das diese Frage beantwortet.",
    ),
    "it": (
        "La biblioteca comunale apre tutti i giorni alle nove del mattino.",
        "Il contratto può essere disdetto senza spese nei primi trenta giorni.",
        "Secondo la relazione, le vendite sono cresciute più dell'anno scorso.",
        "Per cambiare la password bisogna aprire il menu delle impostazioni.",
        "Il ponte è stato costruito due secoli fa ed è ancora in uso.",
        "I pazienti devono prendere la medicina dopo ogni pasto.",
        "Il treno parte dalla stazione centrale con dieci minuti di ritardo.",
        "Non è stato trovato nessun documento che risponda a questa domanda.",
    ),
    "pt": (
        "A biblioteca municipal abre todos os dias às nove horas da manhã.",
        "O contrato pode ser cancelado sem custos nos primeiros trinta dias.",
        "Segundo o relatório, as vendas cresceram mais do que no ano anterior.",
        "Para mudar a senha é preciso abrir o menu de configurações.",
        "A ponte foi construída há dois séculos e continua em uso.",
        "Os pacientes devem tomar o remédio depois de cada refeição.",
        "O trem sai da estação central com dez minutos de atraso.",
        "Não foi encontrado nenhum documento que responda a esta pergunta.",
    ),
    "nl": (
        "De stadsbibliotheek gaat elke dag om negen uur 's ochtends open.",
        "Het contract kan in de eerste dertig dagen kosteloos worden opgezegd.",
        "Volgens het verslag is de verkoop sneller gegroeid dan vorig jaar.",
        "Om het wachtwoord te wijzigen opent u het menu met instellingen.",
        "De brug werd twee eeuwen geleden gebouwd en is nog in gebruik.",
        "De patiënten moeten het medicijn na elke maaltijd innemen.",
        "De trein vertrekt met tien minuten vertraging van het centraal station.",
        "Er is geen document gevonden dat deze vraag beantwoordt.",
    ),
    "sv": (
        "Stadsbiblioteket öppnar varje dag klockan nio på morgonen.",
        "Avtalet kan sägas upp utan kostnad under de första trettio dagarna.",
        "Enligt rapporten har försäljningen ökat snabbare än förra året.",
        "För att byta lösenord måste man öppna menyn med inställningar.",
        "Bron byggdes för två hundra år sedan och används fortfarande.",
        "Patienterna ska ta medicinen efter varje måltid.",
        "Tåget lämnar centralstationen med tio minuters försening.",
        "Inget dokument hittades som besvarar den här frågan.",
    ),
    "da": (
        "Byens bibliotek åbner hver dag klokken ni om morgenen.",
        "Aftalen kan opsiges uden omkostninger i de første tredive dage.",
        "Ifølge rapporten er salget vokset hurtigere end sidste år.",
        "For at ændre adgangskoden skal man åbne menuen med indstillinger.",
        "Broen blev bygget for to hundrede år siden og bruges stadig.",
        "Patienterne skal tage medicinen efter hvert måltid.",
        "Toget forlader hovedbanegården med ti minutters forsinkelse.",
        "Der blev ikke fundet noget dokument, som besvarer dette spørgsmål.",
    ),
    "pl": (
        "Biblioteka miejska jest otwierana codziennie o dziewiątej rano.",
        "Umowę można rozwiązać bez opłat w ciągu pierwszych trzydziestu dni.",
        "Według raportu sprzedaż rosła szybciej niż w poprzednim roku.",
        "Aby zmienić hasło, trzeba otworzyć menu z ustawieniami.",
        "Most zbudowano dwa wieki temu i nadal jest używany.",
        "Pacjenci powinni przyjmować lek po każdym posiłku.",
        "Pociąg odjeżdża z dworca głównego z dziesięciominutowym opóźnieniem.",
        "Nie znaleziono żadnego dokumentu, który odpowiada na to pytanie.",
    ),
    "cs": (
        "Městská knihovna otevírá každý den v devět hodin ráno.",
        "Smlouvu lze během prvních třiceti dnů zrušit bez poplatku.",
        "Podle zprávy rostl prodej rychleji než v předchozím roce.",
        "Pro změnu hesla je třeba otevřít nabídku s nastavením.",
        "Most byl postaven před dvěma stoletími a stále se používá.",
        "Pacienti mají užívat lék po každém jídle.",
        "Vlak odjíždí z hlavního nádraží s desetiminutovým zpožděním.",
        "Nebyl nalezen žádný dokument, který by na tuto otázku odpověděl.",
    ),
    "ro": (
        "Biblioteca orașului se deschide în fiecare zi la ora nouă dimineața.",
        "Contractul poate fi anulat fără costuri în primele treizeci de zile.",
        "Potrivit raportului, vânzările au crescut mai repede decât anul trecut.",
        "Pentru a schimba parola trebuie deschis meniul cu setări.",
        "Podul a fost construit acum două secole și este încă folosit.",
        "Pacienții trebuie să ia medicamentul după fiecare masă.",
        "Trenul pleacă din gara centrală cu zece minute întârziere.",
        "Nu a fost găsit niciun document care să răspundă la această întrebare.",
    ),
    "hu": (
        "A városi könyvtár minden nap reggel kilenc órakor nyit ki.",
        "A szerződés az első harminc napban díjmentesen felmondható.",
        "A jelentés szerint az eladások gyorsabban nőttek, mint tavaly.",
        "A jelszó módosításához meg kell nyitni a beállítások menüjét.",
        "A hidat két évszázaddal ezelőtt építették, és ma is használják.",
        "A betegeknek minden étkezés után be kell venniük a gyógyszert.",
        "A vonat tíz perc késéssel indul a központi pályaudvarról.",
        "Nem található olyan dokumentum, amely választ ad erre a kérdésre.",
    ),
    "tr": (
        "Şehir kütüphanesi her gün sabah saat dokuzda açılıyor.",
        "Sözleşme ilk otuz gün içinde ücretsiz olarak iptal edilebilir.",
        "Rapora göre satışlar geçen yıla göre daha hızlı arttı.",
        "Parolayı değiştirmek için ayarlar menüsünü açmak gerekir.",
        "Köprü iki yüzyıl önce yapıldı ve hâlâ kullanılıyor.",
        "Hastalar ilacı her yemekten sonra almalıdır.",
        "Tren merkez istasyonundan on dakika gecikmeyle kalkıyor.",
        "Bu soruya cevap veren hiçbir belge bulunamadı.",
    ),
    "fi": (
        "Kaupunginkirjasto avataan joka päivä kello yhdeksän aamulla.",
        "Sopimuksen voi irtisanoa maksutta ensimmäisten kolmenkymmenen päivän aikana.",
        "Raportin mukaan myynti kasvoi nopeammin kuin edellisenä vuonna.",
        "Salasanan vaihtamiseksi on avattava asetusten valikko.",
        "Silta rakennettiin kaksisataa vuotta sitten ja on yhä käytössä.",
        "Potilaiden pitää ottaa lääke jokaisen aterian jälkeen.",
        "Juna lähtee päärautatieasemalta kymmenen minuuttia myöhässä.",
        "Tähän kysymykseen vastaavaa asiakirjaa ei löytynyt mistään.",
    ),
    "ru": (
        "Городская библиотека открывается каждый день в девять часов утра.",
        "Договор можно расторгнуть бесплатно в течение первых тридцати дней.",
        "Согласно отчёту, продажи росли быстрее, чем в прошлом году.",
        "Чтобы изменить пароль, нужно открыть меню с настройками.",
        "Мост был построен два века назад и используется до сих пор.",
        "Пациенты должны принимать лекарство после каждого приёма пищи.",
        "Поезд отправляется с главного вокзала с опозданием на десять минут.",
        "Не найдено ни одного документа, который отвечает на этот вопрос.",
    ),
    "uk": (
        "Міська бібліотека відчиняється щодня о дев'ятій годині ранку.",
        "Договір можна розірвати безкоштовно протягом перших тридцяти днів.",
        "Згідно зі звітом, продажі зростали швидше, ніж минулого року.",
        "Щоб змінити пароль, потрібно відкрити меню з налаштуваннями.",
        "Міст збудували два століття тому, і ним користуються досі.",
        "Пацієнти мають приймати ліки після кожного прийому їжі.",
        "Потяг вирушає з головного вокзалу із запізненням на десять хвилин.",
        "Не знайдено жодного документа, який відповідає на це запитання.",
    ),
    "el": (
        "Η δημοτική βιβλιοθήκη ανοίγει κάθε μέρα στις εννέα το πρωί.",
        "Το συμβόλαιο μπορεί να ακυρωθεί χωρίς χρέωση τις πρώτες τριάντα ημέρες.",
        "Σύμφωνα με την έκθεση, οι πωλήσεις αυξήθηκαν πιο γρήγορα από πέρσι.",
        "Για να αλλάξετε τον κωδικό πρέπει να ανοίξετε το μενού ρυθμίσεων.",
        "Η γέφυρα χτίστηκε πριν από δύο αιώνες και χρησιμοποιείται ακόμα.",
        "Οι ασθενείς πρέπει να παίρνουν το φάρμακο μετά από κάθε γεύμα.",
        "Το τρένο φεύγει από τον κεντρικό σταθμό με δέκα λεπτά καθυστέρηση.",
        "Δεν βρέθηκε κανένα έγγραφο που να απαντά σε αυτή την ερώτηση.",
    ),
    "ar": (
        "تفتح المكتبة العامة أبوابها كل يوم في الساعة التاسعة صباحا.",
        "يمكن إلغاء العقد مجانا خلال الأيام الثلاثين الأولى بعد التوقيع.",
        "وفقا للتقرير نمت المبيعات بسرعة أكبر من العام الماضي.",
        "لتغيير كلمة المرور يجب فتح قائمة الإعدادات في البرنامج.",
        "تم بناء الجسر قبل قرنين وما زال مستخدما حتى اليوم.",
        "يجب على المرضى تناول الدواء بعد كل وجبة من الطعام.",
        "يغادر القطار المحطة المركزية متأخرا عشر دقائق عن موعده.",
        "لم يتم العثور على أي وثيقة تجيب عن هذا السؤال.",
    ),
    "hi": (
        "शहर का पुस्तकालय हर दिन सुबह नौ बजे खुलता है।",
        "अनुबंध पहले तीस दिनों में बिना शुल्क के रद्द किया जा सकता है।",
        "रिपोर्ट के अनुसार बिक्री पिछले साल की तुलना में तेज़ी से बढ़ी है।",
        "पासवर्ड बदलने के लिए सेटिंग का मेनू खोलना पड़ता है।",
        "यह पुल दो सौ साल पहले बनाया गया था और आज भी काम में है।",
        "मरीज़ों को हर भोजन के बाद दवा लेनी चाहिए।",
        "ट्रेन मुख्य स्टेशन से दस मिनट की देरी से चलती है।",
        "इस सवाल का जवाब देने वाला कोई दस्तावेज़ नहीं मिला।",
    ),
    "zh": (
        "市立图书馆每天早上九点开门，周末也不例外。",
        "合同在签订后的前三十天内可以免费取消。",
        "根据这份报告，今年的销售额比去年增长得更快。",
        "如果要修改密码，需要先打开设置菜单。",
        "这座桥是两百年前建造的，现在仍然在使用。",
        "病人应该在每顿饭之后服用这种药物。",
        "列车从中央车站出发时晚点了十分钟左右。",
        "没有找到能够回答这个问题的任何文件。",
    ),
    "ja": (
        "市立図書館は毎日午前九時に開館し、夕方に閉まります。",
        "契約は最初の三十日間であれば無料で解約することができます。",
        "報告書によると、売り上げは去年よりも速く伸びています。",
        "パスワードを変更するには、設定のメニューを開いてください。",
        "この橋は二百年前に建てられ、今でも使われています。",
        "患者は毎食後に必ずこの薬を飲まなければなりません。",
        "列車は中央駅を十分遅れて出発する予定です。",
        "この質問に答える文書は一つも見つかりませんでした。",
    ),
    "ko": (
        "시립 도서관은 매일 아침 아홉 시에 문을 열고 저녁에 닫습니다.",
        "계약은 처음 삼십 일 동안 수수료 없이 해지할 수 있습니다.",
        "보고서에 따르면 매출은 작년보다 더 빠르게 늘어났습니다.",
        "비밀번호를 바꾸려면 먼저 설정 메뉴를 열어야 합니다.",
        "이 다리는 이백 년 전에 지어졌으며 지금도 사용되고 있습니다.",
        "환자는 식사를 마칠 때마다 이 약을 복용해야 합니다.",
        "기차는 중앙역에서 십 분 늦게 출발할 예정이라고 합니다.",
        "이 질문에 답하는 문서는 하나도 찾을 수 없었습니다.",
    ),
    "vi": (
        "Thư viện thành phố mở cửa mỗi ngày vào lúc chín giờ sáng.",
        "Hợp đồng có thể được hủy miễn phí trong ba mươi ngày đầu tiên.",
        "Theo báo cáo, doanh số bán hàng tăng nhanh hơn so với năm ngoái.",
        "Để đổi mật khẩu, bạn cần mở trình đơn cài đặt.",
        "Cây cầu được xây dựng cách đây hai thế kỷ và vẫn còn được dùng.",
        "Bệnh nhân phải uống thuốc sau mỗi bữa ăn trong ngày.",
        "Chuyến tàu rời ga trung tâm chậm mười phút so với lịch.",
        "Không tìm thấy tài liệu nào trả lời được câu hỏi này.",
    ),
}  # fmt: skip

#: English of the same kind: what it must not be mistaken for anything else.
ENGLISH: tuple[str, ...] = (
    "The city library opens every day at nine in the morning.",
    "The contract can be cancelled free of charge in the first thirty days.",
    "According to the report, sales grew faster than in the year before.",
    "To change the password, open the menu with the settings.",
    "The bridge was built two centuries ago and is still in use.",
    "Patients should take the medicine after every meal.",
    "The train leaves the central station ten minutes late.",
    "No document was found that answers this question.",
)


def rows(sentences: tuple[str, ...]) -> list[str]:
    """Texts of 15 words or more: all pairs of sentences (28), and a third one where two are too short."""
    made = []
    for first, second in combinations(range(len(sentences)), 2):
        text = f"{sentences[first]} {sentences[second]}"
        made.append(text if len(text.split()) >= 15 or not spaced(text) else f"{text} {sentences[(second + 1) % 8]}")
    return made


def spaced(text: str) -> bool:
    """Whether words can be counted by spaces; in Chinese and Japanese two sentences have well over 15."""
    return text.count(" ") > len(text) / 20
