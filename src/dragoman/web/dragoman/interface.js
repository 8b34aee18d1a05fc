// Made by wasm.py of native/dragoman.h: constants, and the types and offsets of fields.

export const DIGEST = 921805879486193220n;
export const CONSTANTS = {"OK": 0, "NO_MEMORY": -1, "NO_SUCH_ID": -2, "DAMAGED": -3, "BAD_OPTIONS": -4, "STOPPED": -5, "NOT_A_NUMBER": -6, "POST_NORM": 0, "PRE_NORM": 1, "LAYER": 0, "STD": 1, "RMS": 2, "RELU": 0, "GELU": 1, "SWIGLU": 2, "SILU": 3, "SINUSOIDAL": 0, "HALVES": 1, "LEARNED": 2, "ROTARY": 3, "TIE_NONE": 0, "TIE_DECODER": 1, "TIE_ALL": 2, "LAST": 0, "LAYERWISE": 1, "ATTENTION": 0, "SSRU": 1, "REPETITION": 1, "LENGTH": 2, "PROBLEM_LENGTH": 256};
/** @type {Record<string, {size: number, fields: Record<string, [string, number]>}>} */
export const STRUCTURES = {
  ModelConfig: {"size": 208, "fields": {"d_model": ["int64", 0], "d_ff": ["int64", 8], "n_heads": ["int64", 16], "d_k": ["int64", 24], "d_v": ["int64", 32], "n_encoder_layers": ["int64", 40], "n_decoder_layers": ["int64", 48], "max_length": ["int64", 56], "source_vocab_size": ["int64", 64], "target_vocab_size": ["int64", 72], "norm": ["int64", 80], "norm_kind": ["int64", 88], "has_final_norm": ["int64", 96], "activation": ["int64", 104], "bias": ["int64", 112], "scale_embeddings": ["int64", 120], "positions": ["int64", 128], "tie": ["int64", 136], "memory": ["int64", 144], "decoder_layer": ["int64", 152], "norm_epsilon": ["double", 160], "source_pad": ["int64", 168], "source_end": ["int64", 176], "target_pad": ["int64", 184], "target_start": ["int64", 192], "target_end": ["int64", 200]}},
  SearchOptions: {"size": 112, "fields": {"beam_size": ["int64", 0], "n_best": ["int64", 8], "length_penalty": ["double", 16], "min_length": ["int64", 24], "max_length": ["int64", 32], "no_repeat_ngram": ["int64", 40], "repetition_penalty": ["double", 48], "n_prefix": ["int64", 56], "n_forbidden": ["int64", 64], "n_allowed": ["int64", 72], "prefix": ["pointer", 80], "forbidden": ["pointer", 84], "allowed": ["pointer", 88], "seconds": ["double", 96], "should_stop": ["pointer", 104], "stop_argument": ["pointer", 108]}},
  Candidate: {"size": 56, "fields": {"n_ids": ["int64", 0], "n_log_probs": ["int64", 8], "is_finished": ["int64", 16], "faults": ["int64", 24], "ids": ["pointer", 32], "log_probs": ["pointer", 36], "score": ["double", 40], "log_prob": ["double", 48]}},
  Node: {"size": 24, "fields": {"parent": ["int64", 0], "id": ["int64", 8], "token_log_prob": ["float", 16], "log_prob": ["float", 20]}},
};
// int64_t dragoman_load(const ModelConfig *config, const void *file, int64_t n_bytes, int64_t allows_nan, int64_t is_mapped, char *problem, Model **model);
// void dragoman_free(Model *model);
// int64_t dragoman_translate(const Model *model, const int64_t *source, int64_t n_source, const SearchOptions *options, Translation **translation);
// int64_t dragoman_candidates(const Translation *translation, const Candidate **candidates);
// int64_t dragoman_nodes(const Translation *translation, const Node **nodes);
// void dragoman_free_translation(Translation *translation);
// int64_t dragoman_score(const Model *model, const int64_t *source, int64_t n_source, const int64_t *target, int64_t n_target, float *log_probs, float *attention);
