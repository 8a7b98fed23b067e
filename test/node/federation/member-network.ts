import type { NodeId } from '../../../protocol/ids.ts';
import type { SealOptions, TestBatch } from '../../fixtures/federation-batch.ts';
import type { TestFederation } from '../../fixtures/federation.ts';
import { FakeNetwork } from './fake-network.ts';
import {
  fastFederation,
  MemberFixture,
  type FixtureOptions,
  temporaryHome,
  type TemporaryHome,
} from './member-fixture.ts';
import { until } from '../../fixtures/until.ts';

/** Members with real stores and parts, on a wire of this process. */
export class MemberNetwork implements AsyncDisposable {
  readonly federation: TestFederation;
  readonly wire = new FakeNetwork();
  readonly home: TemporaryHome;
  readonly #memberFixture = new Map<string, MemberFixture>();
  readonly #options: FixtureOptions;

  private constructor(federation: TestFederation, home: TemporaryHome, options: FixtureOptions) {
    this.federation = federation;
    this.home = home;
    this.#options = options;
  }

  /** Nobody runs yet. */
  static async create(nodes: readonly string[], options: FixtureOptions = {}): Promise<MemberNetwork> {
    return new MemberNetwork(await fastFederation(nodes), await temporaryHome(), options);
  }

  /** Opens what the members' folders hold and starts them. */
  async start(...names: readonly string[]): Promise<void> {
    for (const name of names) {
      const memberFixture = await this.open(name);
      await memberFixture.federation.start();
    }
  }

  /** Opens a member without starting it. */
  async open(name: string, options: FixtureOptions = {}): Promise<MemberFixture> {
    const all = { ...this.#options, ...options, network: this.wire };
    const memberFixture = await MemberFixture.open(this.home.path, this.federation, name, all);
    this.#memberFixture.set(name, memberFixture);
    return memberFixture;
  }

  async stop(name: string): Promise<void> {
    const memberFixture = this.memberFixture(name);
    this.#memberFixture.delete(name);
    await memberFixture[Symbol.asyncDispose]();
  }

  memberFixture(name: string): MemberFixture {
    const memberFixture = this.#memberFixture.get(name);
    if (memberFixture === undefined) throw new Error(`${name} does not run`);
    return memberFixture;
  }

  id(name: string): NodeId {
    return this.federation.member(name).node;
  }

  /** The next batch of a member, which no member's parts made. */
  batch(node: string, options: SealOptions = {}, records = 3): Promise<TestBatch> {
    const drafts = Array.from({ length: records }, () => ({}));
    return this.federation.sealBatch(node, drafts, options);
  }

  /** A member seals and announces a batch. */
  async seal(node: string): Promise<TestBatch> {
    const batch = await this.batch(node);
    await this.memberFixture(node).hold(batch);
    await this.memberFixture(node).federation.announce(batch);
    return batch;
  }

  /** Waits until a member holds a chain as far as `batch`. */
  async holds(name: string, node: string, batch: number): Promise<void> {
    await until(
      `${name} to hold ${node}/${batch}`,
      () => this.memberFixture(name).chains.head(this.id(node)).batch === batch,
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const name of this.#memberFixture.keys()) await this.stop(name);
    await this.home[Symbol.asyncDispose]();
  }
}
