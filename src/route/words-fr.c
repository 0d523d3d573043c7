#include "route/wordlist.h"

/* clang-format off */
const struct word_list words_fr = {
	.words = {
		[LANG_ART] = "le|la|les|l|du|des|au|aux|de la|de l|à la",
		[LANG_INDEF] = "un|une|chaque|tout|toute|tous|toutes|plusieurs|quelques|aucun|aucune|tous les|"
			"toutes les|un autre|une autre|d autres",
		[LANG_PREP] = "de|d|à|dans|en|sur|sous|pour|par|avec|sans|chez|vers|entre|depuis|pendant|avant|"
			"après|contre|selon|du|des|au|aux|comme|lors|dès|jusqu|jusqu à|jusque|via",
		[LANG_CONJ] = "que|qu|quand|lorsque|lorsqu|si|parce que|parce qu|car|mais|donc|puisque|qui|dont|où|"
			"pour que|afin que|alors que|bien que|dès que",
		[LANG_AND] = "et|ou|ou bien",
		[LANG_PRON] = "ça|cela|ceci|c|lui|leur|celui-ci|celle-ci|ceux-ci|celles-ci|celui|celle|ceux|celles|"
			"elle|il|ils|elles|la même chose|le même",
		[LANG_WEAKPRON] = "il|elle|ils|elles|y|en",
		[LANG_DEM] = "ce|cet|cette|ces",
		[LANG_THERE] = "y|là|là-dedans|dedans|dessus|dessous|là-dessus|vas-y",
		[LANG_SELF] = "je|j|me|m|moi|mon|ma|mes|nous|notre|nos|on",
		[LANG_YOU] = "tu|te|t|toi|ton|ta|tes|vous|votre|vos",
		[LANG_AUX] = "est|sont|était|étaient|être|ai|as|a|avons|avez|ont|avait|avoir|peut|peux|peuvent|"
			"pourrait|doit|dois|doivent|devrait|faut|veux|veut|va|vas|vont|fait|reste|sera|"
			"serait|soit|été|il faut|il faudrait|peux-tu|est-ce que|est-ce qu|faudrait",
		[LANG_WH] = "quoi|quel|quelle|quels|quelles|comment|pourquoi|combien|combien de|où|quand|qui|"
			"qu est-ce que|qu est-ce qui|quelle est|quel est",
		[LANG_FILL] = "euh|ben|bah|bon|alors|s il te plaît|s il vous plaît|stp|svp|juste|un peu|peux-tu|"
			"peux tu|pourrais-tu|tu peux|bonjour|salut|dis|dis-moi|voilà|quoi|jarvis|donc",
		[LANG_FUNC] = "ne|n|pas|plus|très|trop|aussi|même|se|s|il y a|y a-t-il|rien|quelque chose|tout|"
			"toujours|jamais|souvent|déjà|encore|ici|là|bien|mal|peu|beaucoup|moins|maintenant|"
			"ensuite|puis|seulement|surtout|presque|environ|par défaut|partout|t|ci|non|oui|seul|"
			"seule|depuis que|afin de",
		[LANG_ASSENT] = "oui|ouais|ok|okay|d accord|parfait|super|bien|très bien|génial|exactement|c est bon|"
			"c est parfait|merci|vas-y|allez|allez-y|fais-le|fais ça|ça marche|ça me va|bien sûr|"
			"impeccable|entendu|nickel|bonne idée|pourquoi pas|cool|nice|essaie|c est ça",
		[LANG_DENY] = "non|pas ça|pas comme ça|surtout pas|laisse tomber|c est faux|non pas ça|faux",
		[LANG_START] = "et|et aussi|aussi|en plus|de plus|par ailleurs|également|ah|ah et|oh et|"
			"encore une chose|une dernière chose|autre chose encore|attends|attendez|en fait|"
			"finalement|mais|ou|ou plutôt|plutôt|sinon|pareil|la même chose|encore|"
			"encore une fois|de nouveau|tiens|au contraire|désolé|pardon|je voulais dire|"
			"non plutôt|et si|et pour|et pourquoi|et comment|pourquoi ça|pareil pour|idem|hmm|hm|"
			"seulement|sauf",
		[LANG_STEP] = "maintenant|ensuite|puis|après|après ça|et maintenant|et ensuite|et puis|alors|enfin|"
			"pour finir|à présent",
		[LANG_ANYWHERE] = "tant que tu y es|pendant que tu y es|puisque tu y es|continue|continuez|poursuis|"
			"la même chose|pareil pour|idem|comme avant|comme tout à l heure|réessaie|"
			"essaie encore|recommence|encore une fois|de même|au lieu de ça|fais pareil|"
			"fais de même|comme tu as dit|comme prévu|reviens en arrière",
		[LANG_TOO] = "aussi|également|en plus|plutôt|à la place|au lieu de|non plus|de même",
		[LANG_STILL] = "encore|toujours|de nouveau|à nouveau|ne plus|plus|toujours pas|encore une fois|"
			"continue de|désormais",
		[LANG_RETURN] = "revenons à|revenons au|revenons aux|revenons sur|revenir à|revenir au|revenir aux|"
			"pour revenir à|pour revenir au|pour revenir aux|pour en revenir à|"
			"pour en revenir au|retour à|retour au|retour aux|retournons à|retournons au|"
			"reprenons|reprends|à propos de|à propos du|à propos des|concernant|quant à|quant au|"
			"quant aux|au sujet de|au sujet du|au sujet des|en ce qui concerne|"
			"pour ce qui est de|où en est|où en sommes-nous avec|où en étions-nous avec|"
			"continue avec|continuons avec|la conversation sur|tu te souviens de|"
			"tu te souviens du|et pour la|et pour le|pour la|pour le|du côté de|côté|et la|et le|"
			"et les",
		[LANG_FRESH] = "autre sujet|un autre sujet|nouveau sujet|autre chose|autre question|"
			"une autre question|nouvelle question|nouvelle tâche|nouvelle conversation|"
			"changement de sujet|changeons de sujet|rien à voir|ça n a rien à voir|"
			"passons à autre chose|tout autre chose|question suivante|sujet suivant|"
			"commence une nouvelle conversation|démarre une nouvelle conversation|sans rapport|"
			"nouvelle discussion|petite question",
		[LANG_ASIDE] = "au fait|d ailleurs|à propos|par curiosité|question|soit dit en passant",
		[LANG_UNDO] = "annule|annuler|annulez|défais|reviens en arrière|remets|rétablis|restaure",
		[LANG_DONE] = "as-tu|tu as|avez-vous|t as|tes modifications|ta modification|ton correctif|"
			"ta solution|ta proposition|est-ce que tu as|qu as-tu|c est fait|c est prêt|"
			"est-ce fini|pourquoi as-tu|où as-tu",
		[LANG_EXPLETIVE] = "c est|qu est-ce que c est|c est quoi|il y a|y a-t-il|il faut|il faudrait|"
			"il est possible|est-il possible|il serait|serait-il|reste-t-il|il reste|il pleut|"
			"il suffit|il manque|il s agit|est-ce qu il y a|quelle heure est-il|vaut-il mieux|"
			"il vaut mieux",
		[LANG_VERB] = "ajoute|ajouter|corrige|corriger|écris|écrire|fais|faire|crée|créer|change|changer|"
			"modifie|modifier|supprime|supprimer|efface|renomme|déplace|montre|affiche|afficher|"
			"vérifie|vérifier|lance|exécute|teste|utilise|utiliser|mets|mettre|donne|trouve|"
			"trouver|cherche|regarde|explique|expliquer|dis|ouvre|ferme|démarre|arrête|essaie|"
			"remplace|génère|générer|implémente|améliore|accélère|configure|documente|décris|"
			"liste|compte|lis|charge|enregistre|envoie|copie|dessine|cache|active|désactive|"
			"permets|empêche|gère|extrais|sépare|formate|débogue|examine|planifie|propose|"
			"compare|résume|adapte|étends|raccourcis|simplifie|termine|marche|fonctionne|échoue|"
			"manque|manquent|refuse|rends|rendre|passe|prends|garde|mentionne|nettoie|trouvent|"
			"arrive|commence|laisse|besoin|faut|plante",
		[LANG_DEED] = "trie|trier|imprime|convertis|installe|déploie|publie|sauvegarde|valide|traduis|"
			"optimise|télécharge|exporte|importe|filtre|redimensionne|traduire|exporter|importer|"
			"convertir|compresse|chiffre|synchronise|calcule|archive|indexe|refactorise",
		[LANG_ADJUST] = "ajoute|aligne|arrondis|augmente|baisse|cache|centre|change|colorie|diminue|double|"
			"élargis|enlève|essaie|évite|garde|groupe|inclus|inverse|laisse|limite|masque|mentionne|mets|"
			"omets|place|prends|raccourcis|réduis|remplace|saute|sépare|souligne|trie|utilise",
		[LANG_NOUN] = "application|appli|programme|projet|page|pages|écran|vue|fenêtre|formulaire|champ|"
			"champs|bouton|boutons|lien|liens|menu|liste|tableau|ligne|colonne|texte|titre|icône|"
			"image|images|fichier|fichiers|dossier|répertoire|chemin|classe|fonction|méthode|"
			"module|variable|paramètre|valeur|clé|type|script|commande|option|réglage|test|tests|"
			"documentation|doc|commentaire|section|paragraphe|phrase|mot|mots|message|messages|"
			"erreur|erreurs|bug|problème|serveur|client|service|utilisateur|utilisateurs|données|"
			"base|base de données|système|version|nom|noms|exemple|étape|partie|fin|début|haut|"
			"bas|gauche|droite|taille|couleur|place|ordre|cas|fois|jour|semaine|mois|an|année|"
			"heure|minute|seconde|code|sortie|résultat|rapport|résumé|note|élément|différence|"
			"raison|cause|nombre|pixels|façon|manière|chose|site|outil|temps|gens",
		[LANG_RESULT] = "erreur|cause|raison|correctif|changement|changements|résultat|résultats|code|plan|"
			"brouillon|réponse|solution|proposition|suggestion|idée|reste|autre|autres|"
			"modification|modifications|variante|version|exemple|liste|rapport|texte|paragraphe",
		[LANG_ADJ] = "nouveau|nouvelle|nouveaux|vieux|grand|grande|petit|petite|long|longue|court|courte|"
			"rapide|lent|facile|difficile|simple|bon|bonne|mauvais|cassé|vide|plein|entier|même|"
			"différent|autre|prochain|dernier|dernière|précédent|rouge|vert|verte|bleu|jaune|"
			"noir|blanc|gris|foncé|clair|responsive|mensuel|quotidien|possible|disponible|prêt|"
			"valable|alphabétique|automatique|premier|première",
		[LANG_COMP] = "plus court|plus long|plus grand|plus petit|plus rapide|plus lent|plus foncé|"
			"plus clair|plus simple|mieux|moins|trop long|trop court|trop grand|trop petit|"
			"plus gros|plus haut|plus bas|plus détaillé|en détail|plus joli|un peu plus|"
			"un peu moins|plus courte|plus longue|plus grande|plus petite",
		[LANG_NUM] = "deux|trois|quatre|cinq|six|sept|huit|neuf|dix|vingt|trente|cent|mille|zéro|premier|"
			"première|deuxième|troisième|demi",
		[LANG_TIME] = "aujourd hui|demain|hier|matin|soir|nuit|midi|minuit|lundi|mardi|mercredi|jeudi|"
			"vendredi|samedi|dimanche|ce matin|ce soir|cette semaine|ce mois|cette année|"
			"cette fois|semaine|janvier|février|mars|avril|mai|juin|juillet|août|septembre|"
			"octobre|novembre|décembre|du jour|chaque jour|chaque nuit|en ce moment|ces jours-ci|"
			"cet après-midi",
		[LANG_PAST] = "d hier|de tout à l heure|de ce matin|de l autre jour|la semaine dernière|"
			"dont on a parlé|la dernière fois|tout à l heure",
		[LANG_WAIT] = "quand c est fini|quand c est terminé|une fois terminé|dès que c est fini|"
			"quand tu as fini|quand ce sera fini",
		[LANG_HERE] = "projet|dépôt|dossier|répertoire|machine|ordinateur|matin|soir|semaine|mois|fois|"
			"année|jour|moment|branche|façon|genre",
		[LANG_ONE] = "le premier|le deuxième|le second|la première|la deuxième|les deux|le dernier|"
			"la dernière|l autre|les autres|tous|toutes|tout|aucun|celui|celle|option a|option b|"
			"le reste|la seconde",
	},
};
