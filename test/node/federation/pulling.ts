import type { Decided } from '../../../node/log/decidable.ts';
import { CatchUp, type CatchUpOptions } from '../../../node/federation/catch-up.ts';
import { PageClient } from '../../../node/federation/page-client.ts';
import type { PageChecks } from '../../../node/federation/page-checks.ts';
import { PeerFaults } from '../../../node/log/peer-faults.ts';
import { pageRequest } from '../../../node/federation/page-forms.ts';
import type { Transport } from '../../../node/transport/contract.ts';
import { nodeId } from '../../../protocol/ids.ts';
import type { TestFederation } from '../../fixtures/federation.ts';
import { NOTHING_DECIDED } from '../../fixtures/nothing-decided.ts';
import { FakeNetwork } from './fake-network.ts';
import { fastFederation, MemberFixture, silent, temporaryHome, type TemporaryHome } from './member-fixture.ts';

export const SIX = Array.from({ length: 6 }, () => ({}));

/** `jp` pulls what the others hold, over a wire whose clock the test moves. */
export class Pulling implements AsyncDisposable {
  readonly federation: TestFederation;
  readonly network = new FakeNetwork();
  readonly batches: string[] = [];
  readonly contradictions: string[] = [];
  readonly unknownKeys: string[] = [];
  readonly faults = new PeerFaults(() => this.now);
  catchUp: CatchUp;
  /** Of `jp`. */
  readonly transport: Transport;
  /** What the log has decided. A test sets it. */
  decided: Decided = NOTHING_DECIDED;
  /** The last batch of any node that may come. A test sets it. */
  lastToCome = Number.POSITIVE_INFINITY;
  now = 1_000_000;
  readonly #memberFixtures: readonly MemberFixture[];
  readonly #home: TemporaryHome;

  private constructor(
    federation: TestFederation,
    memberFixtures: readonly MemberFixture[],
    home: TemporaryHome,
    checks: PageChecks | undefined,
  ) {
    this.federation = federation;
    this.#memberFixtures = memberFixtures;
    this.#home = home;
    const transports = new Map(memberFixtures.map((fixture) => [fixture, this.#connect(fixture)]));
    const own = this.fixture('jp');
    const transport = transports.get(own);
    if (transport === undefined) throw new Error('jp has no transport');
    this.transport = transport;
    this.catchUp = new CatchUp(this.#options(own, transport, checks));
  }

  /** `checks`: what checks its pages. Default: as many threads as a node takes, once it has pulled as much. */
  static async start(checks?: PageChecks): Promise<Pulling> {
    const federation = await fastFederation(['eu', 'us', 'ca', 'jp']);
    const home = await temporaryHome();
    const names = ['eu', 'us', 'ca', 'jp'];
    const memberFixtures = await Promise.all(names.map((name) => MemberFixture.open(home.path, federation, name)));
    return new Pulling(federation, memberFixtures, home, checks);
  }

  fixture(name: string): MemberFixture {
    const fixture = this.#memberFixtures.find(({ node }) => node === name);
    if (fixture === undefined) throw new Error(`no member ${name}`);
    return fixture;
  }

  /** Seals a batch of `node`, held by the members named. */
  async seal(node: string, holders: readonly string[], drafts: readonly object[] = SIX, groupSize = 3): Promise<void> {
    const batch = await this.federation.sealBatch(
      node,
      drafts.map(() => ({})),
      { groupSize },
    );
    for (const holder of holders) await this.fixture(holder).hold(batch);
  }

  head(name: string): number {
    return this.fixture('jp').chains.head(nodeId(name)).batch;
  }

  /** Pages asked of a member. */
  asked(name: string): number {
    return this.network.pages.filter(({ to }) => to === name).length;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.catchUp[Symbol.asyncDispose]();
    for (const fixture of this.#memberFixtures) await fixture[Symbol.asyncDispose]();
    await this.#home[Symbol.asyncDispose]();
  }

  #connect(fixture: MemberFixture): Transport {
    const transport = this.network.transport(
      fixture.node,
      this.#memberFixtures.map(({ node }) => node),
      () => 'accept',
    );
    transport.serve('batches', (request, _from, _signal, version) => {
      return fixture.pages.serve(pageRequest.decode(request), version);
    });
    void transport.start();
    return transport;
  }

  #options({ store, keys, chains }: MemberFixture, transport: Transport, checks?: PageChecks): CatchUpOptions {
    return {
      ...(checks === undefined ? {} : { checks }),
      store,
      keys,
      chains,
      decided: {
        envelopeOf: (node, batch) => this.decided.envelopeOf(node, batch),
        isRevoked: (node, keyId) => this.decided.isRevoked(node, keyId),
      },
      faults: this.faults,
      pages: new PageClient(transport),
      monotonic: () => this.now,
      log: silent,
      lastToCome: () => this.lastToCome,
      onBatches: async (node, batches) => {
        for (const { envelope } of batches) this.batches.push(`${node}/${envelope.batch}`);
      },
      onContradiction: async (node, peer) => void this.contradictions.push(`${node} by ${peer}`),
      onUnknownKey: (peer) => void this.unknownKeys.push(peer),
    };
  }
}
