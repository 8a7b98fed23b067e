import { utf8 } from '../../../protocol/bytes.ts';
import { entityId, type NodeId } from '../../../protocol/ids.ts';
import { writeLedgerMessage } from '../../../protocol/log/message.ts';
import { nameEnvelope } from '../../../protocol/log/naming.ts';
import { majorityOf } from '../../../protocol/log/roster.ts';
import { fc } from '../../fixtures/properties.ts';
import type { SealedBatch } from '../../fixtures/federation-log-batch.ts';
import { keyedSuite } from '../../fixtures/keyed-suite.ts';
import { FalseTopic, type Mirror, type Paid } from './ledger.ts';
import { Liar } from './liar.ts';
import type { Fate } from './member.ts';
import type { World } from './world.ts';

const STRANGER = entityId('0.0.666');

const HONEST_WORK = [
  'work',
  'work',
  'work',
  'work',
  'work',
  'seal',
  'seal',
  'name',
  'read',
  'gossip',
  'deliver',
  'deliver',
] as const;
const ENVIRONMENT_FAULTS = [
  'lose',
  'double',
  'consensus',
  'part',
  'join',
  'rescue',
  'spam',
  'mirror',
  'captured',
] as const;
const FALLS = ['crash', 'start', 'back-up', 'restore'] as const;
const LIES = [
  'equivocate',
  'garbage',
  'false-roster',
  'false-point',
  'false-checkpoint',
  'made-up',
  'silence',
  'roster',
] as const;

/** Kinds of what happens, by schedule. */
export const ANYTHING = [...HONEST_WORK, ...ENVIRONMENT_FAULTS, ...FALLS, ...LIES] as const;
/** Nobody lies, falls or moves the borders of the network. */
export const ORDINARY = [...HONEST_WORK, 'lose', 'double', 'consensus', 'spam'] as const;

/** Numbers of an action. */
const MOST_A = 31;
const MOST_B = 7;

/** One thing that happens: its kind, to whom, and three numbers whose sense is the kind's. */
export interface Action {
  readonly kind: (typeof ANYTHING)[number];
  readonly who: number;
  readonly a: number;
  readonly b: number;
}

export function actions(kinds: readonly Action['kind'][], most: number): fc.Arbitrary<readonly Action[]> {
  const action = fc.record({
    kind: fc.constantFrom(...kinds),
    who: fc.nat({ max: 4 }),
    a: fc.nat({ max: MOST_A }),
    b: fc.nat({ max: MOST_B }),
  });
  return fc.array(action, { maxLength: most, size: 'max' });
}

/** Lets one thing happen. What cannot happen where the world stands does nothing. */
export async function happen(world: World, { kind, who, a, b }: Action): Promise<void> {
  const { nodes, setting } = world;
  const { network } = setting;
  const node = pick(nodes, who);
  const member = world.member(node);
  const lying = world.liar === null ? null : world.member(world.liar);
  const liar = lying === null ? null : new Liar(setting, lying);
  switch (kind) {
    case 'work':
      for (const one of nodes.filter((_, i) => (a & (1 << i)) !== 0)) await world.seal(one);
      for (let i = 0; i <= b % 4; i++) await world.round();
      return undefined;
    case 'seal':
      await world.seal(node);
      return undefined;
    case 'name':
      return member?.name(fateOf(b));
    case 'read':
      return member?.read(pick(member.mirrors, a));
    case 'gossip':
      return member?.gossip();
    case 'deliver':
      for (let i = 0; i <= b; i++) await world.deliver(a);
      return undefined;
    case 'lose':
      network.take(a);
      return undefined;
    case 'double':
      return network.double(a);
    case 'consensus':
      return member?.askConsensus();
    case 'part':
      return network.part(nodes.filter((_, i) => (a & (1 << i)) !== 0));
    case 'join':
      return network.part([]);
    case 'rescue':
      return member?.rescue(pick(nodes, a), fateOf(b));
    case 'spam':
      spam(world, node, a);
      return undefined;
    case 'mirror':
      for (const mirror of world.publicMirrors) if (mirror.mode.kind === 'lying') mirror.mode = { kind: 'honest' };
      return turn(world, [pick(world.publicMirrors, who)], a, b);
    case 'captured':
      return turn(world, world.capturedMirrors, a, b);
    case 'crash':
      return world.crash(node);
    case 'start':
      return world.start(node);
    case 'back-up':
      return world.backUp(node);
    case 'restore':
      return world.restore(node);
    case 'equivocate':
      return liar?.equivocate(
        nodes.filter((_, i) => (a & (1 << i)) !== 0),
        b % 2 === 0,
      );
    case 'garbage':
      return liar?.nameGarbage(node);
    case 'false-roster':
      if (lying !== null) liar?.nameRoster(world.nextRoster(lying, nodes.slice(0, 2), 1));
      return undefined;
    case 'false-point':
      return liar?.tellFalsely(b);
    case 'false-checkpoint':
      return liar?.checkpointFalsely(a % 2 === 0, b % 4);
    case 'made-up':
      return liar === null ? undefined : judgeMadeUp(world, liar, a, b);
    case 'silence':
      if (lying !== null) lying.isSilent = !lying.isSilent;
      return undefined;
    case 'roster':
      return changeRoster(world, a, b);
  }
}

/** Nobody, whether by its own log or by the genesis alone, calls a record verified that the ledger has not decided. */
async function judgeMadeUp(world: World, liar: Liar, a: number, b: number): Promise<void> {
  await world.truth.follow();
  const sealed = world.sealed.filter(({ node, batch }) => world.truth.decided(node, batch) === undefined);
  const victim: SealedBatch | undefined = sealed[a % Math.max(1, sealed.length)];
  if (victim === undefined) return;
  const bundle = await liar.makeUp(victim, b % 2 === 0);
  for (const by of [null, ...world.honest()]) await world.judge(victim, bundle, by);
}

/**
 * Operators sign a roster of the same members with another quorum, and some of them name it; so many may be too few.
 */
async function changeRoster(world: World, a: number, b: number): Promise<void> {
  const [by] = world.honest();
  if (by === undefined) return;
  const members = by.roster.members.map(({ node }) => node);
  const text = world.nextRoster(by, members, Math.min(members.length - 1, 2 + (b % 2)));
  const naming = world.running().filter((_, i) => (a & (1 << i)) !== 0);
  for (const member of naming) await member.nameRoster(text, 'silent');
  const isMajority = naming.length >= majorityOf({ members: by.roster.members });
  if (isMajority && b > 3) for (const member of world.running()) member.learnRoster(text);
}

function spam(world: World, victim: NodeId, a: number): void {
  const { setting, sealed } = world;
  const one = sealed[a % Math.max(1, sealed.length)];
  if (one === undefined) {
    setting.pay(STRANGER, utf8(`nothing of ${victim}`));
    return;
  }
  setting.pay(STRANGER, nameEnvelope(keyedSuite, setting.federation, one.envelope, one.signedEnvelope.statement));
}

/** Mirrors lag, withhold or lie from now on, all of them alike. */
function turn(world: World, mirrors: readonly Mirror[], a: number, b: number): void {
  const { truth } = world.setting;
  const modes = [
    { kind: 'honest' },
    { kind: 'lagging', behind: 1 + (a % 4) },
    { kind: 'withholding', after: Math.max(0, truth.length - (a % 4)) },
  ] as const;
  const honestly = modes[b];
  const from = Math.max(0, truth.length - (a % 6));
  const topic = new FalseTopic(truth, from, madeUpNames(world, a), b % 2);
  for (const mirror of mirrors) mirror.mode = honestly ?? { kind: 'lying', topic };
}

/** Names, in the accounts of their nodes, of batches that are sealed and not on the ledger. */
function madeUpNames(world: World, a: number): readonly Omit<Paid, 'at'>[] {
  const { setting, sealed, truth } = world;
  const open = sealed.filter(({ node, batch }) => truth.decided(node, batch) === undefined);
  const named = open.slice(-1 - (a % 3)).map(({ node, envelope, signedEnvelope }) => ({
    payer: setting.accountOf(node),
    message: utf8(writeLedgerMessage(nameEnvelope(keyedSuite, setting.federation, envelope, signedEnvelope.statement))),
  }));
  return [...named, { payer: STRANGER, message: utf8('never sent') }];
}

function fateOf(b: number): Fate {
  return (['receipt', 'receipt', 'receipt', 'silent', 'lost'] as const)[b % 5] ?? 'lost';
}

function pick<Item>(items: readonly Item[], which: number): Item {
  const item = items[which % items.length];
  if (item === undefined) throw new RangeError('nothing to pick from');
  return item;
}
