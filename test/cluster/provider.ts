import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import * as assert from 'uvu/assert';
import type { ClusterFile } from '../../cluster/supervisor/cluster-file.ts';
import { parseJson } from '../../protocol/json/parse.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../protocol/json/value.ts';
import { readMail } from '../fixtures/mail-text.ts';

export interface ProviderAnswer {
  readonly status: number;
  readonly text: string;
  readonly body: JsonObject;
}

/** The node that the provider signed up at, and one of another region. */
export const HOME_NODE = 1;
export const FAR_NODE = 4;

const SETTLE_MS = 30_000;
/** Nesting of a bundle that discloses the deepest payload. */
const MAX_DEPTH = 64;

/** An AI provider at its node of a local cluster: what it sends, and what it was answered. */
export class Provider {
  apiKey: string | null = null;
  /** Every attestation that it was given, in order. */
  readonly attested: string[] = [];
  readonly #cluster: ClusterFile;

  constructor(cluster: ClusterFile) {
    this.#cluster = cluster;
  }

  async call(
    method: string,
    path: string,
    body?: JsonValue,
    node = HOME_NODE,
    key = this.apiKey,
  ): Promise<ProviderAnswer> {
    const headers = { 'content-type': 'application/json', ...(key === null ? {} : { 'x-api-key': key }) };
    const url = (this.#cluster.nodes[node]?.baseUrl ?? '') + path;
    const response = await fetch(url, {
      method,
      headers,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    const value = parseJson(text, { maxDepth: MAX_DEPTH });
    return { status: response.status, text, body: isJsonObject(value) ? value : {} };
  }

  /** What was recorded for a request that must be accepted. */
  async post(path: string, body: JsonObject): Promise<JsonObject> {
    const answer = await this.call('POST', path, body);
    assert.is(answer.status, 200, `${path}: ${answer.text}`);
    this.attested.push(String(answer.body.attestationId));
    return answer.body;
  }

  async get(path: string): Promise<JsonObject> {
    const answer = await this.call('GET', path);
    assert.is(answer.status, 200, `${path}: ${answer.text}`);
    return answer.body;
  }

  async refused(path: string, body: JsonObject, status: number, code: string): Promise<JsonObject> {
    const answer = await this.call('POST', path, body);
    assert.equal([answer.status, answer.body.code], [status, code], answer.text);
    return answer.body;
  }

  /** Asked with a key of that region, which takes the caller off the limits of its address. */
  async verify(node: number, id: string): Promise<JsonObject> {
    return (await this.call('GET', `/v1/verify/${id}`, undefined, node, this.#cluster.demo.apiKeys.bench)).body;
  }

  async settled(node: number, id: string): Promise<void> {
    for (const end = performance.now() + SETTLE_MS; (await this.verify(node, id)).verified !== true; await sleep(50)) {
      if (performance.now() > end) throw new Error(`${id} is not verified at ${node}`);
    }
  }

  async mailTo(address: string): Promise<string> {
    const { directory } = this.#cluster.mail;
    for (const end = performance.now() + SETTLE_MS; performance.now() < end; await sleep(50)) {
      for (const file of (await readdir(directory)).filter((name) => name.endsWith('.eml'))) {
        const { to, text } = readMail(await readFile(join(directory, file)));
        if (to === address) return text;
      }
    }
    throw new Error(`no mail to ${address}`);
  }
}
