#include "route/concepts.h"

#include "base/utf8.h"

/* One row a concept: English, German, French, Spanish and what else means the same. Words only
 * that people use for the things of software and daily life; a word stands in one row. */
/* clang-format off */
static const char *const rows[] = {
	"queue|warteschlange|cola",
	"database|db|datenbank|datenbanken|bdd",
	"login|log in|sign in|signin|anmeldung|anmelden|einloggen|connexion|inicio de sesión",
	"logout|log out|sign out|abmeldung|abmelden|déconnexion",
	"password|passwort|kennwort|passwörter|contraseña",
	"settings|setting|preferences|einstellungen|einstellung|einstellungs|réglages|ajustes",
	"page|seite|seiten|página",
	"list|liste|lista",
	"table|tabelle|tabellen|tableau|tabla",
	"button|knopf|schaltfläche|bouton|botón",
	"field|feld|felder|champ|campo",
	"form|formular|formulaire|formulario",
	"file|datei|dateien|fichier|archivo|fichero",
	"folder|directory|ordner|verzeichnis|dossier|carpeta|directorio",
	"image|picture|photo|bild|bilder|foto|fotos|imagen|pictures|photos|images",
	"error|fehler|erreur|errores",
	"message|nachricht|nachrichten|meldung|mensaje",
	"search|suche|suchen|recherche|búsqueda|suchfunktion",
	"user|users|benutzer|nutzer|utilisateur|usuario",
	"customer|customers|client|kunde|kunden|cliente",
	"invoice|invoices|rechnung|rechnungen|facture|factures|factura|facturas",
	"order|orders|bestellung|bestellungen|commande|pedido|pedidos",
	"cart|shopping cart|basket|warenkorb|einkaufswagen|panier|carrito",
	"product|products|produkt|produkte|artikel|produit|producto",
	"price|prices|preis|preise|prix|precio|precios",
	"payment|zahlung|bezahlung|zahlungen|paiement|pago|checkout",
	"shipping|delivery|versand|lieferung|verschicken|verschickt|versenden|livraison|envío",
	"report|reports|bericht|berichte|rapport|informe",
	"chart|diagram|graph|plot|diagramm|grafik|graphique|gráfico",
	"map|card|cards|karte|karten|landkarte|carte|mapa|tarjeta",
	"calendar|kalender|calendrier|calendario",
	"appointment|appointments|termin|termine|rendez-vous|cita|citas",
	"schedule|timetable|zeitplan|fahrplan|horaire|horario",
	"reminder|reminders|erinnerung|erinnerungen|rappel|recordatorio",
	"notification|notifications|benachrichtigung|benachrichtigungen|notificación|notificaciones",
	"email|e-mail|mail|mails|emails|correo|courriel",
	"newsletter|rundbrief|boletín",
	"backup|back up|backups|sicherung|datensicherung|sicherungskopie|sauvegarde|copia de seguridad",
	"translation|translate|übersetzung|übersetzen|traduction|traducción",
	"encryption|encrypt|verschlüsselung|verschlüsseln|chiffrement|cifrado",
	"signature|unterschrift|signatur|firma",
	"certificate|zertifikat|certificat|certificado",
	"upload|hochladen|téléversement|subida",
	"download|downloads|herunterladen|herunterlädt|heruntergeladen|runterladen|téléchargement|descarga",
	"export|exporter|exportieren|exportar|导出",
	"import|importer|importieren|importar|导入",
	"printer|print|drucker|drucken|druck|imprimante|impresora|打印",
	"keyboard|tastatur|clavier|teclado",
	"mouse|maus|souris|ratón",
	"screen|bildschirm|écran|pantalla",
	"window|fenster|fenêtre|ventana",
	"menu|menü|menú",
	"header|kopfzeile|kopf|en-tête|cabecera|encabezado",
	"footer|fußzeile|fuß|pied de page|pie de página",
	"sidebar|seitenleiste|barre latérale|barra lateral",
	"font|schrift|schriftart|police|tipografía",
	"color|colour|farbe|farben|couleur|color scheme|colour scheme|farbschema",
	"dark mode|dunkelmodus|nachtmodus|mode sombre|modo oscuro",
	"language|sprache|sprachen|langue|idioma",
	"version|versionen|versión",
	"license|licence|lizenz|licencia",
	"test|tests|prueba",
	"documentation|docs|doku|dokumentation|documentación",
	"comment|comments|kommentar|kommentare|commentaire|comentario|comentarios",
	"review|rezension|bewertung|bewertungen|avis|reseña",
	"rating|ratings|note|valoración",
	"weather|wetter|météo|clima",
	"forecast|vorhersage|wettervorhersage|prévision|pronóstico",
	"temperature|temperatur|temperaturen|température|temperatura",
	"sensor|fühler|capteur|sensores|sensors|sensoren",
	"pump|pumpe|pumpen|pompe|bomba",
	"heating|heizung|chauffage|calefacción",
	"light|lamp|licht|lampe|lumière|luz",
	"battery|akku|batterie|batería",
	"clock|uhr|horloge|reloj",
	"timer|countdown|zeitgeber|minuterie|temporizador",
	"alarm|wecker|réveil|alarma",
	"game|spiel|spiele|jeu|juego",
	"player|spieler|joueur|jugador",
	"level|stufe|ebene|niveau|nivel",
	"score|punktestand|punkte|puntuación",
	"team|mannschaft|équipe|equipo",
	"member|members|membership|mitgliedschaft|mitglieds|mitglied|mitglieder|membre|miembro|miembros|socio|socios",
	"employee|employees|mitarbeiter|employé|empleado|empleados",
	"school|schule|école|escuela",
	"course|courses|kurs|kurse|cours|curso",
	"student|students|schüler|student|studenten|élève|alumno|alumnos",
	"teacher|lehrer|professeur|profesor",
	"book|books|buch|bücher|livre|libro|libros",
	"library|bibliothek|bibliothèque|biblioteca",
	"recipe|recipes|rezept|rezepte|recette|recettes|receta|recetas",
	"ingredient|ingredients|zutat|zutaten|ingrédient|ingrediente",
	"car|auto|wagen|voiture|coche",
	"bicycle|bike|fahrrad|fahrräder|vélo|bicicleta",
	"train|zug|züge|bahn|tren",
	"flight|flug|flüge|vol|vuelo",
	"hotel|unterkunft|hôtel",
	"booking|reservation|buchung|reservierung|réservation|reserva",
	"ticket|tickets|fahrkarte|eintrittskarte|billet|billets|entrada|entradas",
	"contract|vertrag|verträge|contrat|contrato",
	"tax|steuer|steuern|impôt|impuesto",
	"account|konto|konten|compte|cuenta",
	"bank transfer|transfer|überweisung|virement|transferencia",
	"currency|währung|devise|moneda",
	"discount|rabatt|remise|descuento",
	"stock|inventory|lagerbestand|bestand|inventar|stock level|inventario",
	"warehouse|lager|entrepôt|almacén",
	"supplier|lieferant|lieferanten|fournisseur|proveedor",
	"address|adresse|adressen|dirección",
	"contact|contacts|kontakt|kontakte|contacto|contactos",
	"phone|telephone|telefon|téléphone|teléfono|phone number|telefonnummer",
	"date|datum|fecha",
	"entry|entries|eintrag|einträge|entrée",
	"category|categories|kategorie|kategorien|catégorie|categoría",
	"tag|tags|schlagwort|schlagwörter|étiquette|etiqueta",
	"filter|filtre|filtro",
	"permission|permissions|berechtigung|berechtigungen|rechte|permiso|permisos",
	"role|rolle|rollen|rôle|rol",
	"access|zugriff|zugang|accès|acceso",
	"network|netzwerk|netz|réseau|red",
	"connection|verbindung|verbindungen|connexions|conexión",
	"server|servidor|serveur|服务器",
	"cache|zwischenspeicher|caché",
	"memory|ram|arbeitsspeicher|speicher|mémoire|memoria|内存",
	"disk|festplatte|disque|disco",
	"log|logs|protokoll|logdatei|journal|registro|日志",
	"migration|datenmigration|migración",
	"deployment|deploy|auslieferung|déploiement|despliegue|部署",
	"build|kompilierung|compilation|compilación",
	"crash|absturz|abstürze|plantage|闪退",
	"performance|speed|geschwindigkeit|leistung|vitesse|velocidad",
	"security|sicherheit|sécurité|seguridad",
	"update|updates|aktualisierung|mise à jour|actualización",
	"installation|einrichtung|setup|instalación",
	"validation|validate|prüfung|überprüfung|validierung|validación",
	"conversion|converter|konverter|umwandlung|umrechnung|conversor",
	"calculation|calculate|berechnung|berechnen|calcul|cálculo",
	"sorting|sort|sortierung|sortieren|tri|ordenación|alphabetical",
	"animation|animación|animationen",
	"gallery|galerie|galería",
	"video|videos|film|vídeo",
	"sound|audio|ton|klang|son|sonido",
	"music|musik|musique|música",
	"voice|stimme|sprachausgabe|voix|voz",
	"speech recognition|spracherkennung|reconnaissance vocale|reconocimiento de voz",
	"camera|kamera|caméra|cámara",
	"article|articles|beitrag|beiträge|blogpost|artículo",
	"headline|title|überschrift|titel|titre|título",
	"link|links|verknüpfung|lien|enlace",
	"homepage|home page|startseite|landing page|page d accueil|página de inicio|portada",
	"registration|signup|sign up|registrierung|inscription|inscripción|registro de usuarios",
	"confirmation|bestätigung|confirmación",
	"cancellation|stornierung|kündigung|annulation|cancelación",
	"duplicate|duplicates|duplikat|duplikate|dublette|dubletten|doublon|doublons|duplicado",
	"plan|konzept|planung",
	"design|entwurf|gestaltung|diseño",
	"health check|zustandsprüfung|healthcheck",
	"unit test|unittest|komponententest",
	"shopping list|einkaufsliste|liste de courses|lista de la compra",
	"garden|garten|jardin|jardín",
	"plant|plants|pflanze|pflanzen|plante|planta",
	"water|watering|bewässerung|gießen|arrosage|riego",
	"energy|power|strom|energie|énergie|energía",
	"consumption|verbrauch|consommation|consumo",
	"distance|entfernung|strecke|distancia",
	"route|strecken|itinéraire|ruta",
	"height|elevation|höhe|höhenmeter|altitude|altura",
	"track|tracks|spur|piste",
	"patient|patients|patienten|paciente",
	"doctor|arzt|ärztin|médecin|médico",
	"child|children|kind|kinder|enfant|enfants|niño|niños",
	"animal|animals|tier|tiere|animales",
	"letter|brief|briefe|lettre|carta",
	"question|questions|frage|fragen|pregunta|preguntas",
	"answer|answers|antwort|antworten|réponse|respuesta",
	"subscription|abo|abonnement|suscripción",
	"dropdown|auswahlliste|auswahlmenü|desplegable",
	"checkbox|kontrollkästchen|häkchen",
	"tooltip|hinweistext|infobulle",
	"spinner|ladeanzeige|ladekreis",
	"preview|vorschau|aperçu|vista previa",
	"template|vorlage|vorlagen|modèle|plantilla",
	"attachment|attachments|anhang|anhänge|pièce jointe|adjunto",
	"deadline|frist|fristen|échéance|plazo",
	"loan|loans|ausleihe|ausleihen|prêt|préstamo|préstamos",
	"return|rückgabe|devolución|retour",
	"dunning|reminder letter|mahnung|mahnungen",
	"shift|shifts|schicht|schichten|dienstplan|turno|turnos",
	"vacation|holiday|urlaub|ferien|vacances|vacaciones",
};
/* clang-format on */

/* Rows are written folded but for the sharp s, of which there are few. */
static struct sv keep_folded(struct concepts *c, struct sv word)
{
	AUTO_STR folded = STR_INIT;
	utf8_normalise(&folded, word, true);
	strv_addsv(&c->owned, str_sv(&folded));
	return sv_of(c->owned.v[c->owned.n - 1]);
}

void concepts_init(struct concepts *c)
{
	*c = (struct concepts){ .owned = STRV_INIT };
	wordmap_init(&c->words, 5 * ARRAY_LEN(rows));
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct sv rest = sv_of(rows[i]), word;
		size_t unused;
		while (sv_split(&rest, '|', &word)) {
			if (sv_find(word, SV("ß"), &unused))
				word = keep_folded(c, word);
			*wordmap_ref(&c->words, word) = i + 1;
		}
	}
}

void concepts_release(struct concepts *c)
{
	wordmap_release(&c->words);
	strv_release(&c->owned);
}

unsigned concept_of(const struct concepts *c, struct sv word)
{
	static const char *const endings[] = { "", "s", "n", "en", "e", "es" };
	for (size_t i = 0; i < ARRAY_LEN(endings); i++) {
		struct sv end = sv_of(endings[i]);
		if (word.n <= end.n + 2 || !sv_ends(word, end))
			continue;
		uint64_t id = wordmap_get(&c->words, sv_head(word, word.n - end.n));
		if (id)
			return (unsigned)id;
	}
	return 0;
}

/* Einstellungs+seite: both parts must be known, the first may carry a joint (s, n, en, es). */
bool concept_split(
	const struct concepts *c, struct sv word, unsigned *ret_first, unsigned *ret_second)
{
	enum { SHORTEST = 3 };
	for (size_t at = word.n; at-- > SHORTEST;) {
		if (((unsigned char)word.p[at] & 0xc0) == 0x80 || word.n - at < SHORTEST)
			continue;
		*ret_first = concept_of(c, sv_head(word, at));
		*ret_second = *ret_first ? concept_of(c, sv_from(word, at)) : 0;
		if (*ret_second)
			return true;
	}
	return false;
}
