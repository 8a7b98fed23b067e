import type { NodeId } from '../../../protocol/ids.ts';
import type { SealOptions, TestBatch } from '../../fixtures/federation-batch.ts';
import type { TestFederation } from '../../fixtures/federation.ts';
import { FakeNetwork } from './fake-network.ts';
import { fastFederation, MemberRooms, type RoomOptions, temporaryHome, type TemporaryHome } from './member-rooms.ts';
import { until } from '../../fixtures/until.ts';

/** Members with real stores and rooms, on a wire of this process. */
export class MemberNetwork implements AsyncDisposable {
  readonly federation: TestFederation;
  readonly wire = new FakeNetwork();
  readonly home: TemporaryHome;
  readonly #rooms = new Map<string, MemberRooms>();
  readonly #options: RoomOptions;

  private constructor(federation: TestFederation, home: TemporaryHome, options: RoomOptions) {
    this.federation = federation;
    this.home = home;
    this.#options = options;
  }

  /** Nobody runs yet. */
  static async create(nodes: readonly string[], options: RoomOptions = {}): Promise<MemberNetwork> {
    return new MemberNetwork(await fastFederation(nodes), await temporaryHome(), options);
  }

  /** Opens what the members' folders hold and starts them. */
  async start(...names: readonly string[]): Promise<void> {
    for (const name of names) {
      const rooms = await this.open(name);
      await rooms.federation.start();
    }
  }

  /** Opens a member without starting it. */
  async open(name: string, options: RoomOptions = {}): Promise<MemberRooms> {
    const all = { ...this.#options, ...options, network: this.wire };
    const rooms = await MemberRooms.open(this.home.path, this.federation, name, all);
    this.#rooms.set(name, rooms);
    return rooms;
  }

  async stop(name: string): Promise<void> {
    const rooms = this.rooms(name);
    this.#rooms.delete(name);
    await rooms[Symbol.asyncDispose]();
  }

  rooms(name: string): MemberRooms {
    const rooms = this.#rooms.get(name);
    if (rooms === undefined) throw new Error(`${name} does not run`);
    return rooms;
  }

  id(name: string): NodeId {
    return this.federation.member(name).node;
  }

  /** The next batch of a member, made by nobody's rooms. */
  batch(node: string, options: SealOptions = {}, records = 3): Promise<TestBatch> {
    const drafts = Array.from({ length: records }, () => ({}));
    return this.federation.sealBatch(node, drafts, options);
  }

  /** A member seals and announces a batch. */
  async seal(node: string): Promise<TestBatch> {
    const batch = await this.batch(node);
    await this.rooms(node).hold(batch);
    await this.rooms(node).federation.announce(batch);
    return batch;
  }

  /** Waits until a member holds a chain as far as `batch`. */
  async holds(name: string, node: string, batch: number): Promise<void> {
    await until(`${name} to hold ${node}/${batch}`, () => this.rooms(name).chains.head(this.id(node)).batch === batch);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const name of this.#rooms.keys()) await this.stop(name);
    await this.home[Symbol.asyncDispose]();
  }
}
