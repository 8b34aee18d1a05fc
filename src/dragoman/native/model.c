/* Loading a model: the names and shapes of its weights, as in `bundle/layout.py`. */

#include "loading.h"

/* Memory that a model owns, of which `n_used` bytes are taken, these among them. */
struct Block {
    Block *next;
    int64_t n_used, n_bytes;
};

/* The least size of a block. Where pages can be huge, matrices share blocks, because each small page is a page fault.
 */
#ifdef MADV_HUGEPAGE
enum { LEAST_BLOCK = 32 * HUGE_PAGE };
#else
enum { LEAST_BLOCK = 0 };
#endif

void *own(Model *model, int64_t count, int64_t size) {
    const int64_t n_bytes = checked_product(count, size);
    if (n_bytes < 0) return NULL;
    const int64_t n_whole = rounded_up(n_bytes, CACHE_LINE);
    Block *block = model->blocks;
    if (!block || block->n_bytes - block->n_used < n_whole) {
        const int64_t n_block = larger_of(n_whole + CACHE_LINE, LEAST_BLOCK);
        block = allocate(n_block);
        if (!block) return NULL;
        *block = (Block){model->blocks, CACHE_LINE, n_block};
        model->blocks = block;
    }
    void *memory = (char *)block + block->n_used;
    block->n_used += n_whole;
    return memset(memory, 0, n_bytes);
}

/* See dragoman.h. */
void dragoman_free(Model *model) {
    for (Block *block = model ? model->blocks : NULL, *next; block; block = next) {
        next = block->next;
        release(block);
    }
    free(model);
}

/* Return 1 if the configuration is possible. */
static int64_t is_possible(const ModelConfig *c) {
    const struct {
        int64_t number, least, most;
    } bounds[] = {
        {c->d_model, 1, 65536},
        {c->d_ff, 1, 1000000},
        {c->n_heads, 1, 1024},
        {c->d_k, 1, 65536},
        {c->d_v, 1, 65536},
        {c->n_encoder_layers, 1, 1000},
        {c->n_decoder_layers, 1, 1000},
        {c->max_length, 1, 1000000},
        {c->source_vocab_size, 1, 10000000},
        {c->target_vocab_size, 1, 10000000},
        {c->norm, POST_NORM, PRE_NORM},
        {c->norm_kind, LAYER, RMS},
        {c->norm_epsilon > 0, 1, 1},
        {c->activation, RELU, SILU},
        {c->positions, SINUSOIDAL, ROTARY},
        {c->tie, TIE_NONE, TIE_ALL},
        {c->memory, LAST, LAYERWISE},
        {c->decoder_layer, ATTENTION, SSRU},
        {c->source_pad, -1, c->source_vocab_size - 1}, /* -1: of a web page of an earlier version */
        {c->source_end, 0, c->source_vocab_size - 1},
        {c->target_pad, 0, c->target_vocab_size - 1},
        {c->target_start, 0, c->target_vocab_size - 1},
        {c->target_end, 0, c->target_vocab_size - 1},
        {c->memory == LAYERWISE ? c->n_encoder_layers - c->n_decoder_layers : 0, 0, 0},
        {c->tie == TIE_ALL ? c->source_vocab_size - c->target_vocab_size : 0, 0, 0},
        {c->positions == ROTARY    ? c->d_k % 2
         : c->positions == LEARNED ? 0
                                   : c->d_model % 2,
         0, 0},
    };
    for (uint64_t i = 0; i < sizeof bounds / sizeof *bounds; i++)
        if (bounds[i].number < bounds[i].least || bounds[i].number > bounds[i].most) return 0;
    return 1;
}

/* Read a norm. If norms are folded, it keeps no gain and no bias, and `folded` has them. */
static Norm take_norm(Loader *loader, const char *prefix, const char *name, FoldedNorm *folded) {
    const ModelConfig *c = &loader->model->config;
    const int64_t d_model = c->d_model, kind = c->norm_kind;
    char weight[NAME_LENGTH], bias[NAME_LENGTH];
    join(weight, prefix, name, ".weight");
    join(bias, prefix, name, ".bias");
    const float *gain = take_floats(loader, weight, d_model, 0);
    const float *shift = c->bias && kind != RMS ? take_floats(loader, bias, d_model, 0) : NULL;
    *folded = loader->is_folding ? (FoldedNorm){gain, shift} : (FoldedNorm){NULL, NULL};
    return (Norm){
        .kind = kind == RMS || loader->is_folding ? RMS_NORM : LAYER_NORM,
        .gain = loader->is_folding ? NULL : gain,
        .bias = loader->is_folding ? NULL : shift,
        .square_factor = (float)(1.0 / (double)(kind == STD ? larger_of(d_model - 1, 1) : d_model)),
        .inner_epsilon = kind == LAYER ? (float)c->norm_epsilon
                         : kind == RMS ? 1e-6f
                                       : 0,
        .outer_epsilon = kind == STD ? 1e-6f : 0,
    };
}

/* Read the maps of an attention that has its own queries, keys and values: of a layer to itself. */
static void take_self_attention(Loader *loader, const char *prefix, FoldedNorm norm, Layer *layer) {
    const ModelConfig *c = &loader->model->config;
    const int64_t keys = c->n_heads * c->d_k, values = c->n_heads * c->d_v;
    const LinearParts inputs = {
        .prefix = prefix,
        .names = {"query_projection", "key_projection", "value_projection"},
        .n_in = c->d_model,
        .n_outs = {keys, keys, values},
        .first_scale = (float)(1 / sqrt((double)c->d_k)),
        .norm = norm,
    };
    const LinearParts output = {prefix, {"output_projection"}, values, {c->d_model}, 1, {0}, 1, NULL, 0};
    layer->self_projection = take_linear(loader, &inputs);
    layer->self_output = take_linear(loader, &output);
}

/* Read the maps of a recurrent unit. */
static void take_recurrent_unit(Loader *loader, const char *prefix, Layer *layer) {
    const int64_t d_model = loader->model->config.d_model;
    const LinearParts inputs = {
        .prefix = prefix,
        .names = {"forget", "input"},
        .n_in = d_model,
        .n_outs = {d_model, d_model},
        .first_scale = 1,
        .n_biases = 1,
    };
    layer->self_projection = take_linear(loader, &inputs);
}

/* Read the maps of a decoder layer's attention to the memory. */
static void take_cross_attention(Loader *loader, const char *prefix, FoldedNorm norm, FoldedNorm of_memory,
                                 Layer *layer) {
    const ModelConfig *c = &loader->model->config;
    const int64_t keys = c->n_heads * c->d_k, values = c->n_heads * c->d_v, d_model = c->d_model;
    const float scale = (float)(1 / sqrt((double)c->d_k));
    const LinearParts query = {prefix, {"query_projection"}, d_model, {keys}, scale, norm, 0, NULL, 0};
    const LinearParts memory = {
        prefix, {"key_projection", "value_projection"}, d_model, {keys, values}, 1, of_memory, 0, NULL, 0};
    const LinearParts output = {prefix, {"output_projection"}, values, {d_model}, 1, {0}, 1, NULL, 0};
    layer->cross_query = take_linear(loader, &query);
    layer->cross_memory = take_linear(loader, &memory);
    layer->cross_output = take_linear(loader, &output);
}

static void take_feed_forward(Loader *loader, const char *prefix, FoldedNorm norm, Layer *layer) {
    const ModelConfig *c = &loader->model->config;
    const LinearParts inner = {prefix, {"inner"}, c->d_model, {c->d_ff}, 1, norm, 0, NULL, 0};
    const LinearParts gate = {prefix, {"gate"}, c->d_model, {c->d_ff}, 1, norm, 0, NULL, 0};
    const LinearParts outer = {prefix, {"outer"}, c->d_ff, {c->d_model}, 1, {0}, 1, NULL, 0};
    layer->inner = take_linear(loader, &inner);
    if (c->activation == SWIGLU) layer->gate = take_linear(loader, &gate);
    layer->outer = take_linear(loader, &outer);
}

/* Read the layer of a name such as "decoder_layers.7."; of_memory: the encoder's last norm, for the decoder. */
static void take_layer(Loader *loader, const char *name, const FoldedNorm *of_memory, Layer *layer) {
    char prefix[NAME_LENGTH];
    FoldedNorm norm;
    layer->self_norm = take_norm(loader, name, of_memory ? "self_residual.norm" : "attention_residual.norm", &norm);
    if (of_memory && loader->model->config.decoder_layer == SSRU) {
        join(prefix, name, "ssru.", "");
        take_recurrent_unit(loader, prefix, layer);
    } else {
        join(prefix, name, "self_attention.", "");
        take_self_attention(loader, prefix, norm, layer);
    }
    if (of_memory) {
        layer->cross_norm = take_norm(loader, name, "cross_residual.norm", &norm);
        join(prefix, name, "cross_attention.", "");
        take_cross_attention(loader, prefix, norm, *of_memory, layer);
    }
    layer->feed_forward_norm = take_norm(loader, name, "feed_forward_residual.norm", &norm);
    join(prefix, name, "feed_forward.", "");
    take_feed_forward(loader, prefix, norm, layer);
}

/* Read the layers of one side. */
static Layer *take_layers(Loader *loader, const char *side, int64_t n_layers, const FoldedNorm *of_memory) {
    Layer *layers = take_memory(loader, n_layers, sizeof(Layer));
    for (int64_t i = 0; i < n_layers && !loader->status; i++) {
        char digits[8] = {0}, name[NAME_LENGTH];
        int64_t n_digits = i < 10 ? 1 : i < 100 ? 2 : 3;
        for (int64_t rest = i; n_digits; rest /= 10) digits[--n_digits] = (char)('0' + rest % 10);
        join(name, side, digits, ".");
        take_layer(loader, name, of_memory, layers + i);
    }
    return layers;
}

/* Read an embedding; tied: one with the same vectors, or NULL; columns: the output layer, if it has them. */
static Embedding take_embedding(Loader *loader, const char *name, int64_t n_tokens, const Embedding *tied,
                                const Linear *columns) {
    Model *model = loader->model;
    const ModelConfig *c = &model->config;
    char tokens[NAME_LENGTH], table[NAME_LENGTH];
    join(tokens, name, ".tokens.weight", "");
    join(table, name, ".positions.table", "");
    Embedding embedding = {
        .tokens = tied ? tied->tokens : NULL,
        .integers = tied ? tied->integers : NULL,
        .token_scales = tied ? tied->token_scales : NULL,
        .columns = columns,
        .n_tokens = n_tokens,
        .scale = c->scale_embeddings ? (float)sqrt((double)c->d_model) : 1,
        .centring = loader->is_centring,
        .positions = {.width = c->d_model},
    };
    if (!tied && !columns) take_tokens(loader, tokens, &embedding);
    if (c->positions == LEARNED) {
        embedding.positions.table = take_floats(loader, table, c->max_length, c->d_model);
        embedding.positions.n_rows = c->max_length;
    } else if (c->positions != ROTARY && !loader->status) {
        if (!prepare_waves(model, &embedding.positions, c->d_model, c->positions == HALVES)) loader->status = NO_MEMORY;
    }
    return embedding;
}

/* Read all weights. */
static void take_model(Loader *loader) {
    Model *model = loader->model;
    const ModelConfig *c = &model->config;
    FoldedNorm of_memory = {NULL, NULL}, of_output = {NULL, NULL};
    model->shape =
        (Shape){c->d_model, c->n_heads, c->d_k, c->d_v, c->d_ff, c->norm == PRE_NORM, c->activation, c->decoder_layer};
    /* What a recurrent unit adds to the residual sum is no output of a linear map, which could be centred. */
    loader->is_folding = CAN_FOLD && c->norm == PRE_NORM && c->has_final_norm && c->decoder_layer != SSRU;
    loader->is_centring = loader->is_folding && c->norm_kind != RMS;
    if (c->positions == ROTARY && !loader->status && !prepare_waves(model, &model->angles, c->d_k, 1))
        loader->status = NO_MEMORY;
    const int64_t is_folding = loader->is_folding, is_sharing = IS_SHARING && c->tie != TIE_NONE;
    if (c->has_final_norm) {
        model->encoder_norm = take_norm(loader, "", "encoder_norm", &of_memory);
        loader->is_folding = is_folding && !is_sharing; /* so that the output layer has the vectors as they are */
        model->decoder_norm = take_norm(loader, "", "decoder_norm", &of_output);
        loader->is_folding = is_folding;
    }
    const char *output = c->tie == TIE_ALL       ? "source_embedding.tokens"
                         : c->tie == TIE_DECODER ? "target_embedding.tokens"
                                                 : "output_projection";
    const LinearParts projection = {
        "", {output}, c->d_model, {c->target_vocab_size}, 1, of_output, 0, "output_projection", 0};
    model->output = take_linear(loader, &projection);
    const Linear *columns = is_sharing ? &model->output : NULL;
    const Embedding *tied = c->tie == TIE_ALL ? &model->source : NULL;
    model->source = take_embedding(loader, "source_embedding", c->source_vocab_size, NULL, tied ? columns : NULL);
    model->target = take_embedding(loader, "target_embedding", c->target_vocab_size, tied, columns);
    model->encoder_layers = take_layers(loader, "encoder_layers.", c->n_encoder_layers, NULL);
    model->decoder_layers = take_layers(loader, "decoder_layers.", c->n_decoder_layers, &of_memory);
}

/* See dragoman.h. */
int64_t dragoman_load(const ModelConfig *config, const void *file, int64_t n_bytes, int64_t allows_nan,
                      int64_t is_mapped, char *problem, Model **model) {
    TensorFile tensors;
    *model = NULL;
    if (!is_possible(config)) return tell(problem, NULL, 0, "there is no model of this configuration");
    const int64_t status = read_head(file, n_bytes, &tensors, problem);
    if (status) return status;
    tensors.is_mapped = is_mapped;
    Loader loader = {.file = &tensors, .problem = problem, .allows_nan = allows_nan};
    loader.model = calloc(1, sizeof(Model));
    if (loader.model) {
        loader.model->config = *config;
        take_model(&loader);
    } else {
        loader.status = NO_MEMORY;
    }
    for (int64_t i = 0; i < tensors.n_tensors && !loader.status; i++)
        if (!tensors.tensors[i].is_used)
            loader.status = tell(problem, tensors.tensors[i].name, tensors.tensors[i].n_name, "not of this model");
    free(tensors.tensors);
    if (loader.status)
        dragoman_free(loader.model);
    else
        *model = loader.model;
    return loader.status;
}
