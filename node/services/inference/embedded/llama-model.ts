import type { ChatHistoryItem, LlamaContextSequence, LlamaModel as Weights, Token } from 'node-llama-cpp';
import type { ChatMessage, Prompt } from '../engine.ts';
import type { Completed, ModelSetting, TooLong } from './engine-messages.ts';

type Library = typeof import('node-llama-cpp');

/** How tokens are chosen; with temperature 0 it is always the likeliest. */
const SAMPLING = { minP: 0, topK: 40, topP: 0.95 } as const;

/** A model in memory. Lives in the engine's process, and works on one prompt at a time. */
export class LlamaModel {
  readonly name: string | null;
  /** Exact versions of what runs it. */
  readonly runtime: string;
  readonly #library: Library;
  readonly #weights: Weights;
  readonly #sequence: LlamaContextSequence;

  private constructor(library: Library, weights: Weights, sequence: LlamaContextSequence, runtime: string) {
    const { name } = weights.fileInfo.metadata.general;
    this.name = name === undefined || name === '' ? null : name;
    this.runtime = runtime;
    this.#library = library;
    this.#weights = weights;
    this.#sequence = sequence;
  }

  /** Only ready-made builds for this machine's processor: nothing is fetched, nothing compiled. */
  static async load({ path, contextTokens, threads }: ModelSetting): Promise<LlamaModel> {
    const library = await import('node-llama-cpp');
    const llama = await library.getLlama({
      gpu: false,
      build: 'never',
      skipDownload: true,
      progressLogs: false,
      logLevel: library.LlamaLogLevel.error,
    });
    const weights = await llama.loadModel({ modelPath: path });
    const context = await weights.createContext({
      sequences: 1,
      contextSize: Math.min(contextTokens, weights.trainContextSize),
      threads,
    });
    const { release } = llama.llamaCppRelease;
    const runtime = `node-llama-cpp@${await library.getModuleVersion()}/llama.cpp@${release}`;
    return new LlamaModel(library, weights, context.getSequence(), runtime);
  }

  get contextTokens(): number {
    return this.#sequence.contextSize;
  }

  /** Rejects with the signal's reason once it is aborted. */
  async complete(prompt: Prompt, signal: AbortSignal): Promise<Omit<Completed, 'call'> | Omit<TooLong, 'call'>> {
    const tokens = this.#tokensOf(prompt.messages);
    const contextTokens = this.contextTokens;
    const available = contextTokens - tokens.length - 1;
    if (available < 1) return { type: 'too-long', promptTokens: tokens.length, contextTokens };
    const maxTokens = Math.min(prompt.maxTokens, available);
    const { temperature, seed } = prompt;
    // Nothing of an earlier prompt is left, so that the same prompt is the same numbers.
    await this.#sequence.clearHistory();
    const made: Token[] = [];
    let isOver = false;
    for await (const token of this.#sequence.evaluate(tokens, {
      ...SAMPLING,
      temperature,
      seed,
      yieldEogToken: true,
    })) {
      signal.throwIfAborted();
      isOver = this.#weights.isEogToken(token);
      if (!isOver) made.push(token);
      if (isOver || made.length >= maxTokens) break;
    }
    return {
      type: 'completed',
      content: this.#weights.detokenize(made),
      finishReason: isOver ? 'stop' : 'length',
      promptTokens: tokens.length,
      completionTokens: made.length,
      parameters: { ...SAMPLING, contextTokens, maxTokens, seed, temperature },
    };
  }

  /** By the model's own template. What looks like a control token in a message is tokenised as the text that it is. */
  #tokensOf(messages: readonly ChatMessage[]): Token[] {
    const { JinjaTemplateChatWrapper, resolveChatWrapper } = this.#library;
    const weights = this.#weights;
    const { chat_template: template } = weights.fileInfo.metadata.tokenizer;
    const { tokenizer } = weights;
    const wrapper =
      template === undefined
        ? resolveChatWrapper(weights)
        : new JinjaTemplateChatWrapper({ template, tokenizer, trimLeadingWhitespaceInResponses: false });
    const chatHistory = [...messages.map(historyItem), { type: 'model', response: [] } satisfies ChatHistoryItem];
    const tokens = wrapper.generateContextState({ chatHistory }).contextText.tokenize(tokenizer);
    const { bos, shouldPrependBosToken } = weights.tokens;
    return shouldPrependBosToken && bos !== null && tokens[0] !== bos ? [bos, ...tokens] : tokens;
  }
}

function historyItem({ role, content }: ChatMessage): ChatHistoryItem {
  if (role === 'assistant') return { type: 'model', response: [content] };
  return { type: role, text: content };
}
