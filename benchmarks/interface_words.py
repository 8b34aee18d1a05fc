"""Count the single words and short texts of programs that a model translates as people do.

python benchmarks/interface_words.py [--model everyday] [--language de]
"""

import argparse

import dragoman

#: Text, and its usual translations into German and French.
WORDS = [
    ("Open", "Öffnen", "Ouvrir"),
    ("Close", "Schließen", "Fermer"),
    ("Save", "Speichern|Sichern", "Enregistrer|Sauvegarder"),
    ("Cancel", "Abbrechen", "Annuler"),
    ("Help", "Hilfe", "Aide"),
    ("File", "Datei", "Fichier"),
    ("Edit", "Bearbeiten", "Modifier|Éditer|Édition"),
    ("View", "Ansicht|Anzeigen", "Affichage|Afficher|Voir"),
    ("Search", "Suche|Suchen", "Rechercher|Recherche|Chercher"),
    ("Settings", "Einstellungen", "Paramètres|Réglages"),
    ("Name", "Name", "Nom"),
    ("Password", "Passwort|Kennwort", "Mot de passe"),
    ("Language", "Sprache", "Langue"),
    ("Yes", "Ja", "Oui"),
    ("No", "Nein", "Non"),
    ("Next", "Weiter|Nächste|Nächster|Nächstes", "Suivant|Suivante"),
    ("Back", "Zurück", "Retour"),
    ("Print", "Drucken", "Imprimer"),
    ("Copy", "Kopieren|Kopie", "Copier|Copie"),
    ("Delete", "Löschen", "Supprimer|Effacer"),
    ("Today", "Heute", "Aujourd'hui"),
    ("Monday", "Montag", "Lundi"),
    ("Price", "Preis", "Prix"),
    ("Home", "Startseite|Start|Zuhause|Heim", "Accueil|Maison"),
    ("Send", "Senden|Absenden|Schicken", "Envoyer"),
    ("Stop", "Stopp|Anhalten|Halt|Stop", "Arrêter|Arrêt|Stop"),
    ("Error", "Fehler", "Erreur"),
    ("Sign in", "Anmelden", "Se connecter|Connexion"),
    ("Please wait", "Bitte warten|Bitte warten Sie|Warten Sie bitte", "Veuillez patienter|Veuillez attendre"),
    ("Not found", "Nicht gefunden", "Non trouvé|Introuvable|Pas trouvé"),
]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", default="everyday")
    parser.add_argument("--language", choices=("de", "fr"), default="de")
    args = parser.parse_args()
    translator = dragoman.Translator.load(args.model)
    found = translator.translate([word for word, _, _ in WORDS], source_lang="en", target_lang=args.language)
    n_right = 0
    for (word, german, french), translation in zip(WORDS, found, strict=True):
        usual = (german if args.language == "de" else french).casefold().split("|")
        is_right = translation.text.replace("!", "").replace(".", "").strip().casefold() in usual
        n_right += is_right
        print(f"{'+' if is_right else '-'} {word}: {translation.text}")
    print(f"{n_right} of {len(WORDS)}")


if __name__ == "__main__":
    main()
