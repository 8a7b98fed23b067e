import { AddressList } from '../../node/outbound/address-list.ts';
import type { Store } from '../../node/store/store.ts';
import { priceOf } from '../../protocol/payments/prices.ts';
import { generatePrivateKey } from 'viem/accounts';
import type { AttackTarget } from '../../scripts/bench/attacks/attack-target.ts';
import { API_KEYS, type TestNode } from '../fixtures/test-node.ts';
import { TestNetwork } from '../fixtures/test-network.ts';
import { until } from '../fixtures/until.ts';
import { MaliciousChain } from './malicious-chain.ts';
import { TARGET_PAYEE } from './fuzz-target.ts';

const RECORDS = 20;
const OVERRIDES = 32;
const INCIDENTS = 32;
const BATCH_RECORDS = 100;
const NODE = 'eu';
/** A member whose key the attackers have. */
const TAKEN = 'us';

/** What the node has done since its start, and what is in its store. */
export interface Work {
  /** Verdicts that were computed: who asks the same at the same time shares one. */
  readonly verdicts: number;
  readonly records: number;
  /** Bytes of the rows of each table. */
  readonly tables: ReadonlyMap<string, number>;
}

/**
 * One of three members, with verified records, behind a proxy that strangers come through; another member is the
 * attackers'.
 */
export class AttackedNode implements AsyncDisposable {
  readonly node: TestNode;
  readonly chain: MaliciousChain;
  readonly target: AttackTarget;
  readonly #network: TestNetwork;
  readonly #verdicts = new Set<Promise<unknown>>();

  private constructor(network: TestNetwork, node: TestNode, chain: MaliciousChain, target: AttackTarget) {
    this.#network = network;
    this.node = node;
    this.chain = chain;
    this.target = target;
    const { verifier } = node.context;
    const verify = verifier.verifyRecord.bind(verifier);
    verifier.verifyRecord = (id) => {
      const verdict = verify(id);
      this.#verdicts.add(verdict);
      return verdict;
    };
  }

  static async start(): Promise<AttackedNode> {
    await using starting = new AsyncDisposableStack();
    const chain = new MaliciousChain(Number(priceOf('tiered-attest-batch-xl')));
    const network = starting.use(
      await TestNetwork.start({
        nodes: [NODE, 'ca', TAKEN],
        asleep: [TAKEN],
        quorum: 1,
        ledger: 'local',
        trustedProxies: new AddressList(['127.0.0.1']),
        config: { logLevel: 'error' },
        overridesOf: (id) =>
          id === NODE ? { payments: { settlement: chain, payTo: TARGET_PAYEE, backend: null } } : {},
      }),
    );
    const node = network.node(NODE);
    const key = API_KEYS.enterprise;
    const attest = (n: number) => node.attest({ n }, { sourceId: `s${n}` }, { key });
    const records: string[] = [];
    for (let n = 0; n < RECORDS; n++) records.push(await attest(n));
    const [dearest = ''] = records;
    const accepted = async (path: string, body: object): Promise<void> => {
      const { status, text } = await node.send('POST', path, JSON.stringify({ sourceId: 's', ...body }), { key });
      if (status !== 200) throw new Error(`${path}: ${text}`);
    };
    const override = { originalAttestationId: dearest, overrideDecision: 'approve' };
    const incident = { severity: 'serious', description: 'd', relatedAttestationIds: [dearest] };
    await Promise.all([
      ...Array.from({ length: OVERRIDES }, (_, i) =>
        accepted('/v1/human-override', { ...override, reviewerId: `r${i}` }),
      ),
      ...Array.from({ length: INCIDENTS }, (_, i) => {
        return accepted('/v1/incident', {
          ...incident,
          description: `d${i}`,
          incidentPeriodStart: '2026-01-01T00:00:00Z',
        });
      }),
    ]);
    await node.seal();
    await until(
      'the records are verified',
      async () => (await node.get(`/v1/verify/${dearest}`)).body.verified === true,
    );
    const taken = network.node(TAKEN).config;
    const target: AttackTarget = {
      port: node.config.http.port,
      baseUrl: node.baseUrl,
      keys: { free: API_KEYS.developer, unmetered: API_KEYS.unmetered },
      records,
      dearest,
      payTo: TARGET_PAYEE,
      wallet: generatePrivateKey(),
      batchRecords: BATCH_RECORDS,
      member: { id: taken.id, home: taken.home, rosterFile: network.rosterFile },
    };
    starting.move();
    return new AttackedNode(network, node, chain, target);
  }

  async work(): Promise<Work> {
    const { store, intake, auditLog } = this.node.context;
    // Uses are noted in memory for a moment.
    await auditLog.flush();
    return { verdicts: this.#verdicts.size, records: intake.recorded, tables: await bytesByTable(store) };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#network[Symbol.asyncDispose]();
  }
}

async function bytesByTable(store: Store): Promise<ReadonlyMap<string, number>> {
  const tables = new Map<string, number>();
  for await (const [key, value] of store.range({})) {
    const [table = ''] = key.split('/');
    tables.set(table, (tables.get(table) ?? 0) + key.length + value.length);
  }
  return tables;
}
