// One attacker as a process of `npm run bench -- --only hostile`: node test/fuzz/attacker.ts ATTACK
// Told an `AttackTarget`, it answers 'ready'; told 'begin' it attacks; told 'end' it answers with its tally and ends.
import { setPriority } from 'node:os';
import type { AttackTarget } from '../../scripts/bench/attacks/attack-target.ts';
import type { RunningAttack } from './attacks/attack.ts';
import { ATTACKS } from './attacks/attacks.ts';

/** Attackers have machines of their own: here they leave the processor to whom they attack. */
const LEAST_PRIORITY = 19;

setPriority(LEAST_PRIORITY);
const [name = ''] = process.argv.slice(2);
const attack = Object.entries(ATTACKS).find(([each]) => each === name)?.[1];
if (attack === undefined) throw new Error(`there is no attack ${name}`);
let begin: ((requests: number) => RunningAttack) | undefined;
let running: RunningAttack | undefined;

process.on('message', (message: AttackTarget | { readonly tell: 'begin' | 'end' }) => void answer(message));
process.once('SIGTERM', () => process.exit());
process.once('disconnect', () => process.exit());

async function answer(message: AttackTarget | { readonly tell: 'begin' | 'end' }): Promise<void> {
  if (!('tell' in message)) {
    begin = await attack?.(message);
    process.send?.('ready');
  } else if (message.tell === 'begin') {
    running = begin?.(Number.POSITIVE_INFINITY);
    process.send?.('begun');
  } else {
    process.send?.((await running?.end()) ?? {}, () => process.exit());
  }
}
