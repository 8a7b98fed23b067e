import { setTimeout as sleep } from 'node:timers/promises';
import * as assert from 'uvu/assert';
import { nativeSuite } from '../../node/keys/native-suite.ts';
import { splitTexts } from '../../node/records/record-lines.ts';
import { bodyTable } from '../../node/records/record-tables.ts';
import type { Store } from '../../node/store/store.ts';
import { nodeId } from '../../protocol/ids.ts';
import { openRecord } from '../../protocol/chain/record.ts';
import type { TestNode } from '../fixtures/test-node.ts';

/** What a node answers that cannot store a record at the moment. */
const NOT_NOW: readonly number[] = [503, 507];
/** Pause before a caller who got no record repeats the request. In milliseconds. */
const REPEAT_MS = 50;
const REPEAT_FOR_MS = 20_000;
const ANSWER_MS = 10_000;

/**
 * Callers of one node. Each request has a source and an idempotency key of its own, and is repeated until it is
 * acknowledged: so the store must hold every source exactly once.
 */
export class Submissions {
  /** Source → id of the record that was acknowledged. */
  readonly acknowledged = new Map<string, string>();
  readonly #node: TestNode;
  readonly #sent = new Set<string>();
  readonly #unanswered = new Set<string>();

  constructor(node: TestNode) {
    this.#node = node;
  }

  /** Sends one request. Whether it was acknowledged; a node that died or refuses is part of the game. */
  async submit(source: string): Promise<boolean> {
    this.#sent.add(source);
    this.#unanswered.add(source);
    const headers = { 'idempotency-key': source };
    const signal = AbortSignal.timeout(ANSWER_MS);
    const body = { sourceId: source, data: { input: source, output: 'x' } };
    const answer = await this.#node.post('/v1/attest', body, { headers, signal }).catch(() => undefined);
    if (answer === undefined || NOT_NOW.includes(answer.status)) return false;
    const { attestationId } = answer.body;
    if (answer.status !== 200 || typeof attestationId !== 'string') throw new Error(`not accepted: ${answer.text}`);
    this.#unanswered.delete(source);
    this.acknowledged.set(source, attestationId);
    return true;
  }

  /** Repeats what was not acknowledged until it is. */
  async repeat(): Promise<void> {
    const deadline = performance.now() + REPEAT_FOR_MS;
    for (const source of this.#unanswered) {
      while (!(await this.submit(source))) {
        if (performance.now() > deadline) throw new Error(`the node does not take ${source}`);
        await sleep(REPEAT_MS);
      }
    }
  }

  /** Fails unless a store holds every acknowledged record under its id, and no source twice. */
  async requireIn(store: Store, acknowledged: ReadonlyMap<string, string> = this.acknowledged): Promise<void> {
    const held = new Map<string, string>();
    for await (const [, body] of bodyTable.under(store, [nodeId(this.#node.config.id)])) {
      for (const { sourceId, id } of splitTexts(body).map((texts) => openRecord(nativeSuite, texts))) {
        // The node has records of its own: after midnight, the heads of the day's logs.
        if (!this.#sent.has(sourceId)) continue;
        assert.not(held.has(sourceId), `${sourceId} is recorded twice`);
        held.set(sourceId, id);
      }
    }
    const lost = [...acknowledged].filter(([source, id]) => held.get(source) !== id);
    assert.equal(lost, [], 'an acknowledged record is not in the store');
  }
}
