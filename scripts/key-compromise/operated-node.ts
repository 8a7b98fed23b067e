import { join } from 'node:path';
import { httpRequest } from '../../node/outbound/http-client.ts';
import { decodeUtf8 } from '../../protocol/bytes.ts';
import { parseJson } from '../../protocol/json/parse.ts';
import { isJsonObject, type JsonObject } from '../../protocol/json/value.ts';
import type { Bundle } from '../../protocol/verdict/bundle.ts';
import { parseBundle } from '../../protocol/verdict/parse.ts';
import type { PlannedNode } from '../../cluster/plan.ts';
import type { LocalCluster } from '../bench/local-cluster.ts';
import { until } from '../bench/until.ts';
import type { Target } from '../key/targets.ts';

/** A bundle that discloses the deepest payload. */
const MAX_ANSWER_DEPTH = 64;
const CONFIRM_MS = 30_000;
/** A bundle is some megabytes at most. */
const LIMITS = { timeoutMs: 60_000, maxBytes: 64 << 20 };

/** What a verification says, as far as a drill asks. */
export interface NodeVerdict {
  readonly verified: boolean;
  readonly witnessed: boolean;
  readonly sigValid: boolean;
}

/** One node of the drill's cluster, by its API and its operator socket. */
export class OperatedNode {
  readonly id: string;
  readonly home: string;
  readonly target: Target;
  readonly #baseUrl: string;
  readonly #apiKey: string;
  readonly #signal: AbortSignal;

  constructor(cluster: LocalCluster, node: PlannedNode, signal: AbortSignal) {
    this.id = node.id;
    this.home = cluster.homeOf(node);
    this.target = { node: node.id, socket: join(this.home, 'operator.sock') };
    this.#baseUrl = node.baseUrl;
    this.#apiKey = cluster.apiKey;
    this.#signal = signal;
  }

  /** Attests a decision; null where the node refused it. */
  async attest(data: JsonObject): Promise<string | null> {
    const body = JSON.stringify({ sourceId: 'drill', data });
    const answer = await this.#ask('/v1/attest', body);
    return typeof answer.attestationId === 'string' ? answer.attestationId : null;
  }

  /** Attests, and waits until the ledger confirmed it. */
  async confirmed(data: JsonObject): Promise<string> {
    const id = await this.attest(data);
    if (id === null) throw new Error(`${this.id} refused a record`);
    await until(`${id} to be confirmed`, CONFIRM_MS, this.#signal, async () => {
      return (await this.#ask(`/v1/status/${id}`)).status === 'confirmed';
    });
    return id;
  }

  async verify(id: string): Promise<NodeVerdict> {
    return verdictOf(await this.#ask(`/v1/verify/${id}`));
  }

  async verifyBundle(bundle: Bundle): Promise<NodeVerdict> {
    return verdictOf(await this.#ask('/v1/bundles/verify', JSON.stringify(bundle)));
  }

  /** The bundle of a record, whatever became of it. */
  async bundle(id: string): Promise<Bundle> {
    return parseBundle(await this.#ask(`/v1/bundles/${id}?partial=1`));
  }

  /** Whether a revocation of the key has come here, in force or not. */
  async knowsRevoked(keyId: string): Promise<boolean> {
    return JSON.stringify(await this.#ask('/v1/revocations')).includes(keyId);
  }

  /** A POST where there is a body. */
  async #ask(path: string, body?: string): Promise<JsonObject> {
    const headers = { 'content-type': 'application/json', 'x-api-key': this.#apiKey };
    const request = { ...LIMITS, headers, signal: this.#signal };
    const url = this.#baseUrl + path;
    const { bytes } = await (body === undefined
      ? httpRequest(url, request)
      : httpRequest(url, { ...request, method: 'POST', body }));
    const value = parseJson(decodeUtf8(bytes), { maxDepth: MAX_ANSWER_DEPTH });
    if (!isJsonObject(value)) throw new Error(`${this.id} answered ${path} with no object`);
    return value;
  }
}

/** A record's answer has `sigValid` beside its members, a bundle's among its checks. */
function verdictOf({ verified, witnessed, sigValid, checks }: JsonObject): NodeVerdict {
  const inChecks = isJsonObject(checks) ? checks.sigValid : undefined;
  return { verified: verified === true, witnessed: witnessed === true, sigValid: (sigValid ?? inChecks) === true };
}
