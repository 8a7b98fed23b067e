import * as assert from 'uvu/assert';
import type { Sha256Hash } from '../../../protocol/hash.ts';
import type { NodeId } from '../../../protocol/ids.ts';
import { neededWitnesses, type Roster, rosterStatement } from '../../../protocol/log/roster.ts';
import { timestampOf } from '../../../protocol/time.ts';
import type { Bundle } from '../../../protocol/verdict/bundle.ts';
import type { LogView } from '../../../protocol/verdict/known.ts';
import type { Verdict } from '../../../protocol/verdict/verdict.ts';
import { verifyBundle } from '../../../protocol/verdict/verify.ts';
import { envelopeHash, type SealedBatch } from '../../fixtures/federation-log-batch.ts';
import { keyedSuite } from '../../fixtures/keyed-suite.ts';
import { bundleBy, viewOf } from './bundles.ts';
import { Derivations } from './derivations.ts';
import { Mirror } from './ledger.ts';
import { copyDisk, emptyDisk, ModelMember, rosterHash, type Written } from './member.ts';
import { makeSetting, type Setting, type Terms } from './setting.ts';
import { Truth } from './truth.ts';

/** Mirrors that everybody may read. At most one of them lies at a time. */
const PUBLIC_MIRRORS = 3;
/** Rounds in which all that is to come comes: naming, reading, telling, vouching, for four batches a node. */
const HEALING_ROUNDS = 14;

interface Slot {
  disk: Written;
  backup: Written | null;
  running: ModelMember | null;
  isGone: boolean;
  /** What was last looked at of it. */
  seen: string;
}

/**
 * One schedule's world: members, mirrors, network and true ledger. After every action `check` asserts what must hold
 * whatever happens. One member, the liar, may say anything; one, the captured, reads by mirrors of its own that may
 * both lie.
 */
export class World {
  readonly setting: Setting;
  readonly truth: Truth;
  readonly publicMirrors: readonly Mirror[];
  readonly capturedMirrors: readonly Mirror[];
  /** Records that were sealed by members that do not lie, in order. */
  readonly sealed: SealedBatch[] = [];
  /** Bundles that somebody called verified, by envelope. */
  readonly verified = new Map<Sha256Hash, { readonly sealed: SealedBatch; readonly bundle: Bundle }>();
  readonly liar: NodeId | null;
  readonly captured: NodeId;
  readonly #derivations: Derivations;
  readonly #slots = new Map<NodeId, Slot>();
  readonly #rolledBack = new Set<NodeId>();
  readonly #views = new WeakMap<ModelMember, { readonly seen: string; readonly view: LogView }>();

  private constructor(setting: Setting, truth: Truth, hasLiar: boolean) {
    this.setting = setting;
    this.truth = truth;
    this.#derivations = new Derivations(setting);
    this.publicMirrors = Array.from({ length: PUBLIC_MIRRORS }, (_, i) => new Mirror(`public-${i}`, setting.truth));
    this.capturedMirrors = ['own-1', 'own-2'].map((name) => new Mirror(name, setting.truth));
    const [first, second] = setting.nodes;
    if (first === undefined || second === undefined) throw new RangeError('a world has two members');
    this.liar = hasLiar ? first : null;
    this.captured = second;
  }

  static async create(terms: Terms, hasLiar = true): Promise<World> {
    const setting = await makeSetting(terms);
    const world = new World(setting, await Truth.of(setting), hasLiar);
    for (const node of setting.nodes) {
      world.#slots.set(node, { disk: emptyDisk(), backup: null, running: null, isGone: false, seen: '' });
      await world.start(node);
    }
    return world;
  }

  get nodes(): readonly NodeId[] {
    return this.setting.nodes;
  }

  /** The member, where it runs. */
  member(node: NodeId): ModelMember | null {
    return this.#slot(node).running;
  }

  running(): readonly ModelMember[] {
    return this.nodes.flatMap((node) => this.member(node) ?? []);
  }

  honest(): readonly ModelMember[] {
    return this.running().filter(({ node }) => node !== this.liar);
  }

  async start(node: NodeId): Promise<void> {
    const slot = this.#slot(node);
    if (slot.running !== null || slot.isGone) return;
    slot.running = await ModelMember.start(this.setting, this.#derivations, node, slot.disk, this.#mirrorsOf(node));
  }

  /** What it had not written is lost. */
  crash(node: NodeId): void {
    this.#slot(node).running = null;
  }

  leaveForGood(node: NodeId): void {
    this.#slot(node).isGone = true;
    this.crash(node);
  }

  backUp(node: NodeId): void {
    const slot = this.#slot(node);
    slot.backup = copyDisk(slot.disk);
  }

  /** Starts again from an old copy of the disk. */
  async restore(node: NodeId): Promise<void> {
    const slot = this.#slot(node);
    if (slot.backup === null || slot.isGone) return;
    this.crash(node);
    slot.disk = copyDisk(slot.backup);
    this.#rolledBack.add(node);
    await this.start(node);
  }

  async seal(node: NodeId): Promise<SealedBatch | null> {
    const sealed = (await this.member(node)?.seal()) ?? null;
    if (sealed !== null && node !== this.liar) this.sealed.push(sealed);
    return sealed;
  }

  /** Lets the letter at that place arrive; a member that does not run hears nothing. */
  async deliver(which = 0): Promise<void> {
    const letter = this.setting.network.take(which);
    if (letter !== undefined) await this.member(letter.to)?.receive(letter);
  }

  async deliverAll(): Promise<void> {
    for (let left = this.setting.network.size; left > 0; left--) await this.deliver();
  }

  /** Every running member names, reads, tells and hears. */
  async round(): Promise<void> {
    for (const member of this.running()) await member.name('receipt');
    for (const member of this.running()) {
      for (const mirror of member.mirrors) await member.read(mirror);
      await member.gossip();
    }
    await this.deliverAll();
    await this.deliverAll();
  }

  /** The network is whole, mirrors are honest, and everybody who is not gone runs. */
  async heal(): Promise<void> {
    this.setting.network.part([]);
    for (const mirror of [...this.publicMirrors, ...this.capturedMirrors]) mirror.mode = { kind: 'honest' };
    for (const node of this.nodes) {
      await this.start(node);
      const member = this.member(node);
      if (member !== null) member.isSilent = false;
    }
    for (let round = 0; round < HEALING_ROUNDS && !this.#isSettled(); round++) {
      await this.round();
      await this.check();
    }
  }

  /**
   * What must hold once all is well again: the liar is the only one without a word on its records, and all honest
   * members, and anyone who knows the genesis alone, have the same word on everything that was ever called verified.
   */
  async checkSettled(): Promise<void> {
    for (const sealed of this.#owed()) {
      assert.ok(this.verified.has(envelopeHash(sealed)), `batch ${sealed.batch} of ${sealed.node} is not confirmed`);
    }
    const [first, ...later] = this.verified.values();
    for (const { sealed, bundle } of [first, later.at(-1)].filter((one) => one !== undefined)) {
      const name = `batch ${sealed.batch} of ${sealed.node}`;
      // It may carry too few checkpoints for a stranger where a member's own log knew the roster; it never is refused.
      const { exitCode } = await this.verdict(bundle, null);
      assert.ok(exitCode === 0 || exitCode === 5, `an old bundle of ${name} is refused`);
      const builder = this.honest().find(({ isMember }) => isMember);
      const fresh = builder === undefined ? null : await bundleBy(this.setting, builder, sealed);
      assert.ok(fresh !== null, `nobody has a bundle of ${name}`);
      for (const by of [
        null,
        ...this.honest()
          .filter(({ isMember }) => isMember)
          .slice(1),
      ]) {
        assert.is((await this.verdict(fresh, by)).word, 'verified', `${name}, by ${by?.node ?? 'a stranger'}`);
      }
    }
  }

  /** Every record of a member that is still there, does not lie, and was not rolled back. */
  #owed(): readonly SealedBatch[] {
    return this.sealed.filter(({ node }) => this.member(node)?.isMember === true && !this.#rolledBack.has(node));
  }

  #isSettled(): boolean {
    const { size } = this.truth;
    const members = this.honest().filter(({ isMember }) => isMember);
    const isWhole = ({ log, checkpointStore }: ModelMember): boolean =>
      log.state.sequence === this.setting.truth.length &&
      members.every(({ node }) => size === 0 || checkpointStore.newest(node)?.checkpoint.size === size);
    return members.every(isWhole) && this.#owed().every((sealed) => this.verified.has(envelopeHash(sealed)));
  }

  /** A roster of these members with that quorum, to follow what a member has in force. Its operators sign it. */
  nextRoster(by: ModelMember, members: readonly NodeId[], quorum: number): string {
    const roster: Roster = {
      ...this.setting.genesis,
      version: by.log.state.rosters.length + 1,
      previous: by.log.state.rosters.at(-1)?.hash ?? this.setting.federation,
      members: members.map((node) => this.setting.makerOf(node).member),
      quorum,
      issuedAt: timestampOf(this.setting.tick()),
    };
    const text = rosterStatement.write(roster);
    this.setting.rosters.set(rosterHash(text), text);
    return text;
  }

  /** What must hold at any time. */
  async check(): Promise<void> {
    await this.truth.follow();
    for (const member of this.honest()) {
      const slot = this.#slot(member.node);
      const { log, agreement } = member;
      const seen = seenBy(member);
      this.#checkFinal(member, agreement.final());
      if (slot.seen === seen) continue;
      slot.seen = seen;
      assert.ok(log.size <= this.truth.size, `${member.node} has decided more than the ledger`);
      assert.is(await log.rootAt(log.size), this.truth.rootAt(log.size), `the log of ${member.node} is another one`);
      this.#checkStore(member);
      await this.#checkVerdicts(member);
    }
  }

  /** The verdict of a member, by its own log, or of somebody who knows the genesis alone. */
  async verdict(bundle: Bundle, by: ModelMember | null): Promise<Verdict> {
    const { setting } = this;
    const known = by === null ? { pin: setting.federation } : { log: await this.#viewOf(by) };
    return verifyBundle(keyedSuite, bundle, known);
  }

  /** Nobody calls a bundle verified whose envelope the true ledger has not decided, or that too few have derived. */
  async judge(sealed: SealedBatch, bundle: Bundle, by: ModelMember | null): Promise<boolean> {
    const { facts, verified, restsOn } = await this.verdict(bundle, by);
    const envelope = envelopeHash(sealed);
    const isDecided = this.truth.decided(sealed.node, sealed.batch) === envelope;
    assert.ok(isDecided || !facts.onLedger, `a batch of ${sealed.node} is on the ledger that was never decided`);
    assert.ok(isDecided || !verified, `a batch of ${sealed.node} is verified that was never decided`);
    if (!verified) return false;
    const within = [...this.setting.rosters.values()].map((text) => rosterStatement.parse(text));
    const quorum = within.find(({ version }) => version === restsOn?.version)?.quorum ?? 0;
    const vouching = this.nodes.filter(
      (node) => node !== sealed.node && node !== this.liar && this.#hasDerived(node, sealed),
    );
    const lies = this.liar === null || this.liar === sealed.node ? 0 : 1;
    assert.ok(vouching.length + lies >= neededWitnesses({ quorum }), 'verified, and too few have derived it');
    this.verified.set(envelope, { sealed, bundle });
    return true;
  }

  /** Made once for as long as its log and checkpoints stay as they are. */
  async #viewOf(member: ModelMember): Promise<LogView> {
    const seen = seenBy(member);
    const known = this.#views.get(member);
    if (known?.seen === seen) return known.view;
    const view = await viewOf(this.setting, member);
    this.#views.set(member, { seen, view });
    return view;
  }

  #hasDerived(node: NodeId, sealed: SealedBatch): boolean {
    const { disk, backup } = this.#slot(node);
    const reached = [disk, backup].map((written) => written?.chains.get(sealed.node)?.state.batch ?? 0);
    return this.#everDerived(node, sealed.node, Math.max(...reached)) >= sealed.batch;
  }

  readonly #derived = new Map<string, number>();

  /** What a member derived stays derived, also where its disk was rolled back after it said so. */
  #everDerived(node: NodeId, of: NodeId, now: number): number {
    const key = `${node}/${of}`;
    const most = Math.max(now, this.#derived.get(key) ?? 0);
    this.#derived.set(key, most);
    return most;
  }

  #checkFinal(
    { node }: ModelMember,
    { sequence, runningHash }: { readonly sequence: number; readonly runningHash: string },
  ): void {
    const { truth } = this.setting;
    assert.ok(sequence <= truth.length, `${node} takes more for final than the ledger has`);
    assert.is(runningHash, truth.pointAt(sequence).runningHash, `${node} takes another ledger for final`);
  }

  #checkStore({ node, checkpointStore }: ModelMember): void {
    for (const { checkpoint } of checkpointStore.all().flatMap((known) => checkpointStore.of(known.checkpoint.node))) {
      assert.is(checkpoint.root, this.truth.rootAt(checkpoint.size), `${node} counts a false checkpoint`);
    }
    for (const { checkpoint } of checkpointStore.contradicted) {
      assert.is(checkpoint.node, this.liar, `${node} takes a true checkpoint for a false one`);
    }
  }

  async #checkVerdicts(member: ModelMember): Promise<void> {
    for (const [of, { state }] of member.disk.chains) this.#everDerived(member.node, of, state.batch);
    for (const sealed of member.disk.batches.values()) {
      if (this.verified.has(envelopeHash(sealed))) continue;
      const bundle = await bundleBy(this.setting, member, sealed);
      if (bundle !== null) await this.judge(sealed, bundle, member);
    }
  }

  #mirrorsOf(node: NodeId): readonly Mirror[] {
    if (node === this.captured) return this.capturedMirrors;
    const at = this.nodes.indexOf(node);
    return [0, 1].flatMap((i) => this.publicMirrors[(at + i) % PUBLIC_MIRRORS] ?? []);
  }

  #slot(node: NodeId): Slot {
    const slot = this.#slots.get(node);
    if (slot === undefined) throw new RangeError(`${node} is no member`);
    return slot;
  }
}

/** Text that differs where a member's log or the checkpoints that it counts do. */
function seenBy({ log, checkpointStore }: ModelMember): string {
  return [log.state.sequence, ...checkpointStore.all().map(({ signed }) => signed.signature.slice(0, 44))].join(' ');
}
