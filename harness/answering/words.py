"""The words in which replies state an answer, deny it or leave it open, in ten languages.

A sentence states an answer only if all its other words are from the closed list ``STATING``; so a word that
is in no list, in whatever language, makes it a mention.
"""

from __future__ import annotations

import re

_CUES = """
answer answers label labels labeled labelled classification classify classified categorize categorized
categorise categorised category categories class prediction predict verdict topic topics output result
choice option choose chose select selected pick rating rate rated score judgment judgement assessment
decision conclusion conclude response sentiment sentiments polarity tone mood emotion theme subject issue
issues area concept concepts analysis valence intensity value assistant stars star pronoun refers refer
intent stance task tag assign give
antwort label klassifikation klassifizierung einordnung bewertung stimmung kategorie ergebnis thema
réponse classification étiquette catégorie sentiment tonalité résultat thème
respuesta etiqueta clasificación categoría sentimiento resultado tema
risposta etichetta classificazione categoria sentimento risultato
resposta rótulo classificação sentimento resultado
antwoord classificatie categorie sentiment resultaat onderwerp
odpowiedź etykieta klasyfikacja kategoria sentyment wynik temat
ответ метка классификация категория тональность настроение результат тема
svar etikett klassificering kategori stämning
"""
_OTHERS = """
a an the this that these those it its it's i i'd i'll i'm we we'd you my our your is are was were be been
being has have had's that's here's there's there here will do does of in on to for with as by into under
upon from based given per and after analyzing analysing reading reviewing examining provided text review
reviews sentence passage news headline story email abstract comment tweet post article statement
provision clause document message case paragraph excerpt content piece author writer reviewer speaker
narrator person one regulation directive snippet input opinion attitude feeling language wording words
overall whole express expresses expressed expressing convey conveys conveyed show shows shown reflect
reflects indicate indicates carry carries contain contains express display displays demonstrates
demonstrate describe describes falls fall belongs belong fits fit best matches match concerns concern
about deals deal relates relate related say call describe described think believe go state stated
identify identified mark marked associate associated agree very clearly definitely strongly
overwhelmingly predominantly mostly mainly primarily generally quite really extremely rather slightly
somewhat fairly certainly obviously undoubtedly indeed simply just only largely highly ultimately finally
thus therefore hence so then accordingly consequently also well ok okay sure both unmistakably distinctly
decidedly plainly evidently around approximately roughly circa moderately mildly weakly deeply absolutely
certain most relevant appropriate correct right single main final following suitable accurate given
requested asked best fitting applicable apply applies true yes summary conclusion short reasoning
moreover actually
der die das den dem des ein eine einen einem einer dieser diese dieses dies ist sind war lautet wird als
wurde text textes rezension satz kommentars satzes kommentar beitrag aussage bewertung insgesamt
eindeutig klar sehr eher also daher somit ich würde sagen bezeichnen einstufen einordnen er sie es meine
korrekte richtige endgültige eingestuft
le la les l un une de du des d ce cet cette c est sont texte avis phrase commentaire message plutôt très
clairement donc globalement je dirais exprime ma qu qualifie classé comme finale
el los las un una uno del este esta esto es son texto reseña frase comentario mensaje claramente muy
general general en resumen por lo tanto diría expresa mi clasifica como
il lo gli i una di del della dell questo questa è sono testo recensione frase commento messaggio
chiaramente molto quindi direi esprime mia classificato come
o os as um uma do da deste desta este isto é são texto resenha avaliação frase comentário mensagem
claramente muito portanto diria expressa minha classificado
het een deze dit is zijn tekst recensie zin opmerking bericht van duidelijk erg dus ik zou zeggen mijn
to jest są tekst recenzja zdanie komentarz wiadomość tego tekstu bardzo wyraźnie zatem więc moja
это эта этот является текст отзыв предложение комментарий сообщение текста отзыва очень явно значит мой
det den detta är texten recensionen meningen mycket tydligt alltså min mitt
"""
_DENIALS = """
not no non nor never neither none nothing nobody without cannot can't hardly barely scarcely isnt wasnt
doesnt dont didnt wouldnt cant unlikely doubt doubtful wrong incorrect inaccurate false n/a inapplicable
respected complied lack lacks lacking fails failed fail rejected reject ruled excluded exclude dismissed
disagree refuse refuses avoid absence opposite far anything less instead against except
nicht kein keine keinen keinem keiner keines niemals nie weder noch kaum nichts keineswegs keinesfalls
falsch ohne
ne pas ni jamais aucun aucune guère rien nullement sans
nunca tampoco nada ningún ninguno ninguna jamás apenas
mai né nessun nessuno nessuna niente nemmeno neanche senza affatto
não nem nunca nenhum nenhuma jamais sem
niet geen nooit noch nauwelijks geenszins allerminst zonder
nie ani nigdy żaden żadna wcale bynajmniej bez
не ни нет никогда нельзя вовсе отнюдь без
inte ej aldrig varken ingen inget knappast
"""
_HEDGES = """
perhaps maybe possibly probably likely arguably presumably supposedly allegedly might may could if unless
guess suppose depends unsure uncertain or whether hypothetically conceivably seemingly apparently
possible candidate candidates
vielleicht möglicherweise wahrscheinlich vermutlich eventuell könnte wohl falls wenn ob
peut-être peut probablement possiblement semble pourrait si
quizá quizás acaso posiblemente probablemente podría parece
forse magari probabilmente possibilmente potrebbe sembra
talvez possivelmente provavelmente poderia
misschien mogelijk waarschijnlijk zou kunnen wellicht
może chyba prawdopodobnie możliwe jeśli
возможно наверное вероятно может если пожалуй
kanske möjligen troligen
"""
_RETRACTIONS = """
scratch wait oops whoops correction kidding mistaken nope sorry
"""
_QUESTIONS = "is are was were does do did has have had will would should shall could can ist"
_REASONS = """
because since although though albeit despite whereas while
weil obwohl obgleich aufgrund
parce puisque malgré
porque aunque debido
perché poiché sebbene
embora apesar
omdat hoewel aangezien
ponieważ gdyż chociaż choć
потому поскольку хотя
eftersom därför fastän
"""
_TURNS = """
but yet however so therefore thus hence
aber sondern jedoch daher
mais cependant
pero sino
però quindi
porém portanto
maar
lecz
но однако
"""
CUES = frozenset(_CUES.split())
STATING = CUES | frozenset(_OTHERS.split())
DENIALS = frozenset(_DENIALS.split())
HEDGES = frozenset(_HEDGES.split())
REASONS = frozenset(_REASONS.split())
"""After these a clause gives reasons, in words that may also be labels."""
TURNS = frozenset(_TURNS.split())
"""These begin a new clause, which a denial before them does not reach."""
CONCLUSIONS = frozenset(
    [
        "so",
        "therefore",
        "thus",
        "hence",
        "daher",
        "also",
        "donc",
        "cependant",
        "quindi",
        "entonces",
        "portanto",
    ]
)
"""Those of them that are other words within a clause ("not so positive")."""
RETRACTIONS = frozenset(_RETRACTIONS.split())
"""These take back what was said before."""
QUESTIONS = frozenset(_QUESTIONS.split())
"""A sentence that begins with one of these asks or supposes."""
INPUTS = frozenset(
    ["text", "review", "sentence", "passage", "comment", "tweet", "post", "input", "snippet", "headline"]
)
"""Before a colon these introduce what was asked about."""
FINAL = frozenset(["final", "finally", "endgültige", "finale", "definitiva"])

_CJK = re.compile(
    r"这段|这篇|这个|这条|该|此|文本|文字|文章|评论|句子|的|情感|情绪|倾向|态度|答案|标签|分类|类别|结果|应该是|属于|是|为|我认为"
    r"|この|その|テキスト|文章|文|レビュー|感情|答え|回答|ラベル|分類|結果|は|が|です|だ|である|になります|に分類されます|の"
    r"|정답|답변|답|감정|레이블|분류|은|는|이|가|입니다|이다|텍스트|이\s?텍스트|의"
)
_IDEOGRAPH = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_PRONOUN = r"[\"']?\b(?:he|she|they|him|her|his|hers|them|their|theirs|it|its)\b[\"']?"
_PHRASES: tuple[tuple[str, str], ...] = (
    (r"\bnot only\b|\bnothing (?:but|other than)\b|\bnone other than\b", " "),
    (
        r"\b(?:there(?: is|'s) )?(?:no|without(?: an?| any)?) (?:doubt|question|wonder)\b(?: that\b)?",
        " ",
    ),
    (r"\bcan(?: \w+)? be (?=(?:classified|categori[sz]ed|label))", "is "),
    (r"\b(?:should|must|has to|ought to) be\b", "is"),
    (r"\b(answer|label|sentiment|classification|category|that) would be\b", r"\1 is"),
    (r"\b(i|we) would(?: not hesitate to)? (?=\w)(?!be\b)", r"\1 "),
    (r"\b(?:is|was|am|were) about to\b|\bgiven (?=label|answer|class)", " may "),
    (r"\ball but\b|\banything (?:but|other than)\b|\b(?:rather than|instead of|far from)\b", " not "),
    (r"\bas opposed to\b|\bopposite of\b", " not "),
    (r"[❌✗✘✖🚫☐]|\[ \]", " crossed "),
    (r"\bi meant\b", "correction"),
    (r"\bother than\b|\bapart from\b", "except"),
    (r"\bor so\b", "perhaps"),
    (r"\btal vez\b|\ba lo mejor\b", "perhaps"),
    (r"\be\.g\.|\bfor (?:example|instance)\b", " possible "),
    (r"\bi\.e\.", " "),
    (rf"{_PRONOUN}(?= refers? to\b)|(?<=pronoun ){_PRONOUN}", "pronoun"),
)
_PHRASE = [(re.compile(expression, re.IGNORECASE), by) for expression, by in _PHRASES]


def simplified(text: str) -> str:
    """Return ``text`` with phrases of several words in single words: "far from positive", "not positive"."""
    for expression, by in _PHRASE:
        text = expression.sub(by, text)
    return text


def stating(word: str) -> bool:
    """Return whether ``word``, in lower case, may stand in a sentence that states an answer."""
    if word in STATING:
        return True
    if "'" in word:
        return all(part in STATING or part in ("s", "d", "ll", "qu", "dell") for part in word.split("'"))
    return bool(_IDEOGRAPH.match(word)) and not _CJK.sub("", word)


def cueing(word: str) -> bool:
    """Return whether ``word`` names what is asked for: "answer", "sentiment"."""
    return word in CUES or (bool(_IDEOGRAPH.match(word)) and stating(word)) or _last(word) in CUES


def denying(word: str) -> bool:
    """Return whether ``word`` denies what stands beside it."""
    return word in DENIALS or word.endswith("n't") or word.startswith("n'")


def _last(word: str) -> str:
    return word.rpartition("'")[2]
