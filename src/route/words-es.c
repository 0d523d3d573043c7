#include "route/wordlist.h"

/* clang-format off */
const struct word_list words_es = {
	.words = {
		[LANG_ART] = "el|la|los|las|del|al",
		[LANG_INDEF] = "un|una|unos|unas|cada|todo|toda|todos|todas|varios|varias|algún|alguna|ningún|"
			"ninguna|otro|otra|más|todos los|todas las",
		[LANG_PREP] = "de|a|en|con|sin|por|para|sobre|bajo|desde|hasta|entre|hacia|según|contra|durante|"
			"tras|del|al|como|ante|vía|dentro de|fuera de|antes de|después de",
		[LANG_CONJ] = "que|cuando|si|porque|pero|aunque|mientras|donde|cual|quien|pues|para que|ya que|"
			"así que|como si|hasta que",
		[LANG_AND] = "y|e|o|u",
		[LANG_PRON] = "eso|esto|ello|aquello|lo|le|les|ellos|ellas|ella|lo mismo|los mismos|ése|ésa",
		[LANG_WEAKPRON] = "lo|le|les",
		[LANG_DEM] = "este|esta|estos|estas|ese|esa|esos|esas|aquel|aquella",
		[LANG_THERE] = "ahí|allí|ahí mismo|allá|ahí dentro|encima|dentro|debajo",
		[LANG_SELF] = "yo|me|mi|mis|nosotros|nos|nuestro|nuestra|nuestros|nuestras|mí|conmigo",
		[LANG_YOU] = "tú|te|tu|tus|ti|usted|vosotros|os|vuestro",
		[LANG_AUX] = "es|son|era|eran|ser|está|están|estaba|esté|estar|ha|has|han|he|hay|había|puede|"
			"pueden|puedes|podría|debe|deben|debería|quiero|quiere|va|van|tiene|tienen|tengo|fue|"
			"sea|hace|hacen|puedo|podemos|tenemos|hemos|haya|necesito|necesita|necesitamos",
		[LANG_WH] = "qué|cuál|cuáles|cómo|por qué|cuánto|cuánta|cuántos|cuántas|dónde|cuándo|quién|a qué|"
			"de qué|con qué|para qué",
		[LANG_FILL] = "eh|em|pues|bueno|por favor|a ver|mira|oye|hola|buenos días|buenas|solo|puedes|"
			"podrías|me puedes|quiero que|necesito que|un poco|jarvis|dime",
		[LANG_FUNC] = "no|muy|tan|también|tampoco|ya|aún|todavía|se|nada|algo|todo|siempre|nunca|aquí|así|"
			"bien|mal|poco|mucho|mucha|menos|más|ahora|luego|después|entonces|solo|sólo|casi|"
			"además|por defecto|a la vez|cualquier|cada vez|según|sí|qué tal|arriba|abajo",
		[LANG_ASSENT] = "sí|si|vale|ok|okay|de acuerdo|perfecto|bien|muy bien|genial|exacto|claro|"
			"por supuesto|gracias|adelante|hazlo|dale|venga|estupendo|correcto|me gusta|"
			"está bien|así está bien|me parece bien|buena idea|listo|eso es|excelente|"
			"de acuerdo hazlo|inténtalo",
		[LANG_DENY] = "no|nada|así no|eso no|no así|mejor no|está mal|incorrecto|déjalo|olvídalo|"
			"no funciona|no ha funcionado",
		[LANG_START] = "y|y también|y además|también|además|encima|por otra parte|ah|ah y|oh y|una cosa más|"
			"otra cosa más|espera|un momento|en realidad|mejor|mejor dicho|pero|o|o mejor|"
			"más bien|lo mismo|igual|otra vez|de nuevo|perdón|quise decir|no espera|y si|y para|"
			"y cómo|y por qué|y qué|qué tal|hmm|hm|solo|sólo|salvo|excepto|tampoco|aparte|"
			"asimismo|igualmente|por último|todavía|sigue|aun así",
		[LANG_STEP] = "ahora|luego|después|entonces|y ahora|y luego|y después|a continuación|por último|"
			"finalmente|ahora también|acto seguido",
		[LANG_ANYWHERE] = "ya que estás|de paso|sigue|continúa|continua|prosigue|lo mismo|lo mismo para|"
			"haz lo mismo|igual que antes|como antes|inténtalo de nuevo|inténtalo otra vez|"
			"prueba otra vez|vuelve a intentarlo|hazlo otra vez|otra vez|como dijiste|"
			"como acordamos|sigue así|en vez de eso|en lugar de eso",
		[LANG_TOO] = "también|además|tampoco|en vez de|en lugar de|mejor|igualmente|asimismo|más bien",
		[LANG_STILL] = "todavía|aún|sigue|siguen|otra vez|de nuevo|ya no|ya|vuelve a|vuelven a|todavía no|"
			"aún no|sigue sin|siguen sin",
		[LANG_RETURN] = "volviendo a|volviendo al|volvamos a|volvamos al|volver a|volver al|vuelve a|"
			"vuelve al|regresando a|regresando al|regresemos a|regresemos al|respecto a|"
			"respecto al|respecto de|con respecto a|con respecto al|en cuanto a|en cuanto al|"
			"acerca de|acerca del|sobre el|sobre la|sobre los|sobre las|sobre lo de|lo de|"
			"en relación con|retomemos|retomando|retoma|dónde estábamos con|cómo va|qué hay de|"
			"qué hay del|qué pasa con|qué pasó con|sigue con|sigamos con|continúa con|"
			"continuemos con|la conversación sobre|te acuerdas de|te acuerdas del|recuerdas|"
			"por lo de",
		[LANG_FRESH] = "otro tema|otra cosa|otra pregunta|nuevo tema|nueva pregunta|nueva tarea|"
			"nueva conversación|tema nuevo|cambio de tema|cambiando de tema|cambiemos de tema|"
			"algo distinto|algo diferente|algo totalmente distinto|pasemos a otra cosa|"
			"siguiente pregunta|siguiente tema|siguiente tarea|empieza una nueva conversación|"
			"inicia una nueva conversación|nada que ver|no tiene nada que ver|pregunta aparte|"
			"tema aparte|una pregunta rápida|pregunta rápida",
		[LANG_ASIDE] = "por cierto|a propósito|una pregunta|una duda|pregunta|por curiosidad",
		[LANG_UNDO] = "deshaz|deshacer|revierte|revertir|restaura|anula|deshazlo|reviértelo",
		[LANG_DONE] = "has|hiciste|has hecho|encontraste|cambiaste|tu cambio|tus cambios|tu solución|"
			"tu propuesta|qué hiciste|qué has|por qué has|ya está|está listo|has terminado|"
			"terminaste|estás seguro|dónde has|dónde lo has|pusiste|funcionó",
		[LANG_EXPLETIVE] = "es posible|sería posible|hace falta|hay que|hay|hace calor|vale la pena|lo que|"
			"lo más|lo mejor|a lo mejor|por lo menos|por lo tanto|por lo que|todo lo que",
		[LANG_VERB] = "añade|añadir|agrega|arregla|arreglar|escribe|escribir|haz|hacer|crea|crear|cambia|"
			"cambiar|modifica|elimina|borra|borrar|quita|renombra|mueve|muestra|mostrar|"
			"comprueba|comprobar|revisa|revisar|verifica|ejecuta|prueba|probar|usa|usar|pon|"
			"poner|da|dame|encuentra|encontrar|busca|buscar|mira|explica|explicar|di|dime|abre|"
			"cierra|empieza|arranca|arrancar|para|intenta|sustituye|reemplaza|genera|generar|"
			"implementa|mejora|acelera|configura|documenta|describe|lista|cuenta|lee|carga|"
			"guarda|envía|copia|oculta|activa|desactiva|permite|evita|gestiona|extrae|separa|"
			"formatea|depura|examina|averigua|planifica|propón|propone|sugiere|compara|resume|"
			"adapta|amplía|acorta|simplifica|termina|funciona|falla|falta|faltan|tarda|sale|"
			"salen|deja|marca|haga|quiero|necesito|hace|limpia|coloca",
		[LANG_DEED] = "ordena|imprime|imprimir|convierte|instala|despliega|publica|dibuja|valida|traduce|"
			"actualiza|exporta|importa|filtra|optimiza|descarga|sube|traducir|exportar|importar|"
			"comprime|cifra|sincroniza|calcula|archiva|indexa|refactoriza",
		[LANG_ADJUST] = "agrupa|alinea|añade|aumenta|baja|cambia|centra|colorea|deja|duplica|evita|excluye|"
			"incluye|invierte|limita|menciona|mueve|oculta|omite|ordena|pinta|pon|prueba|quita|reduce|"
			"redondea|reemplaza|resalta|salta|separa|sube|subraya|usa|utiliza",
		[LANG_NOUN] = "aplicación|programa|proyecto|página|páginas|pantalla|vista|ventana|formulario|campo|"
			"campos|botón|botones|enlace|enlaces|menú|lista|tabla|fila|columna|texto|título|"
			"icono|imagen|imágenes|archivo|archivos|fichero|ficheros|carpeta|directorio|ruta|"
			"clase|función|método|módulo|variable|parámetro|valor|clave|tipo|script|comando|"
			"opción|ajuste|prueba|pruebas|documentación|comentario|sección|párrafo|frase|palabra|"
			"palabras|mensaje|mensajes|error|errores|fallo|problema|servidor|cliente|servicio|"
			"usuario|usuarios|datos|base|base de datos|sistema|versión|nombre|nombres|ejemplo|"
			"paso|parte|final|principio|izquierda|derecha|tamaño|color|colores|lugar|orden|caso|"
			"vez|día|semana|mes|año|hora|minuto|segundo|código|salida|resultado|informe|resumen|"
			"nota|elemento|diferencia|razón|causa|número|píxeles|forma|manera|cosa|sitio|web|"
			"herramienta|tiempo|móvil|fecha",
		[LANG_RESULT] = "error|causa|razón|arreglo|cambio|cambios|resultado|resultados|código|plan|borrador|"
			"respuesta|solución|propuesta|sugerencia|idea|resto|otro|otra|otros|otras|variante|"
			"versión|ejemplo|lista|informe|texto|párrafo",
		[LANG_ADJ] = "nuevo|nueva|nuevos|nuevas|viejo|vieja|grande|grandes|pequeño|pequeña|largo|larga|"
			"corto|corta|rápido|lento|fácil|difícil|simple|bueno|buena|malo|mala|roto|vacío|"
			"lleno|entero|mismo|misma|diferente|próximo|último|última|anterior|rojo|verde|azul|"
			"amarillo|negro|blanco|gris|oscuro|claro|posible|disponible|repetido|mensual|diario|"
			"automático|obligatorio|opcional|alfabético|primero|primera",
		[LANG_COMP] = "más corto|más largo|más grande|más pequeño|más rápido|más lento|más oscuro|"
			"más claro|más simple|mejor|peor|menos|demasiado largo|demasiado corto|más alto|"
			"más bajo|más detallado|en detalle|un poco más|un poco menos|más bonito|más corta|"
			"más larga",
		[LANG_NUM] = "dos|tres|cuatro|cinco|seis|siete|ocho|nueve|diez|veinte|treinta|cien|mil|cero|"
			"primero|primera|segundo|segunda|tercero|medio",
		[LANG_TIME] = "hoy|mañana|ayer|noche|tarde|mediodía|lunes|martes|miércoles|jueves|viernes|sábado|"
			"domingo|esta mañana|esta tarde|esta noche|esta semana|este mes|este año|esta vez|"
			"cada noche|cada día|cada semana|enero|febrero|marzo|abril|mayo|junio|julio|agosto|"
			"septiembre|octubre|noviembre|diciembre|en este momento|fin de semana",
		[LANG_PAST] = "de ayer|de antes|de esta mañana|del otro día|de la semana pasada|la otra vez|"
			"de lo que hablamos|la última vez|de hace un rato",
		[LANG_WAIT] = "cuando termine|cuando acabe|cuando esté listo|en cuanto termine|una vez terminado|"
			"cuando hayas terminado",
		[LANG_HERE] = "proyecto|repositorio|carpeta|directorio|máquina|ordenador|computadora|mañana|tarde|"
			"noche|semana|mes|año|vez|momento|rama|forma|manera|tipo",
		[LANG_ONE] = "el primero|el segundo|la primera|la segunda|el otro|la otra|los otros|los dos|"
			"las dos|ambos|ambas|el último|la última|todos|todas|todo|ninguno|ninguna|opción a|"
			"opción b|las otras|los demás|las demás|el resto",
	},
};
