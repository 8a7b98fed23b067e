import type { JsonObject } from '../../protocol/json/value.ts';

/** Mean size of the real decisions that this imitates: a language model's answers to short instructions. In bytes. */
export const BODY_BYTES = 1100;
const SOURCES = 20;
const WORDS = (
  'the applicant model loan income policy review score threshold evidence history customer region account limit ' +
  'decision because based risk payment record within which approved declined further information provided average ' +
  'months previous credit balance stable employment verified document request answer question summary should'
).split(' ');
const WORDS_OF_INSTRUCTION = 18;

/**
 * Bodies of `POST /v1/tiered-attest`, the same in every run, each about `BODY_BYTES` long and different from the rest.
 */
export function decisionBodies(total: number): JsonObject[] {
  const random = generator(1);
  return Array.from({ length: total }, (_, i) => decisionBody(i, random));
}

function decisionBody(i: number, random: () => number): JsonObject {
  const body = (text: string) => ({
    sourceId: `llm/model-${i % SOURCES}`,
    data: {
      input: { instruction: `${sentence(WORDS_OF_INSTRUCTION, random)}?`, dataset: 'bench', case: i },
      output: { text },
      confidence: Number(random().toFixed(3)),
    },
    model_ref: {
      model_id: `model-${i % SOURCES}`,
      model_version: '2026-05',
      third_party_model: true,
      system_id: 'bench',
    },
    complianceMeta: { riskLevel: 'low', jurisdiction: ['EU', 'US'], serviceEventType: 'DECISION' },
  });
  const frame = JSON.stringify(body('')).length + WORDS_OF_INSTRUCTION;
  let text = '';
  while (frame + text.length < BODY_BYTES) text += `${text === '' ? '' : ' '}${sentence(12, random)}.`;
  return body(text.slice(0, BODY_BYTES - frame));
}

function sentence(words: number, random: () => number): string {
  const text = Array.from({ length: words }, () => WORDS[Math.floor(random() * WORDS.length)]).join(' ');
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** mulberry32: small, and the same everywhere. */
function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
