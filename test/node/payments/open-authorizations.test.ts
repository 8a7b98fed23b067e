import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { WALLET_ALLOWANCE } from '../../../node/accounts/limits/allowances.ts';
import { OpenAuthorizations, type ShownAuthorization } from '../../../node/payments/open-authorizations.ts';
import { walletAddress } from '../../../protocol/payments/payment.ts';
import { type AtomicAmount, atomicAmount } from '../../../protocol/payments/usdc.ts';
import { fc } from '../../fixtures/properties.ts';

const PAYER = walletAddress(`0x${'a'.repeat(40)}`);
const OTHER = walletAddress(`0x${'b'.repeat(40)}`);

function shown(name: string, more: Partial<ShownAuthorization> = {}): ShownAuthorization {
  return { payer: PAYER, name, amount: atomicAmount('10'), isBatch: false, isNewcomer: false, ...more };
}

function has(amount: number): () => Promise<AtomicAmount> {
  return () => Promise.resolve(atomicAmount(String(amount)));
}

test('a wallet is good for what it has, counting what it has shown before', async () => {
  const open = new OpenAuthorizations();
  open.enter(shown('first'));
  open.enter(shown('second'));
  assert.is(await open.isCovered(PAYER, 'first', has(10)), true);
  assert.is(await open.isCovered(PAYER, 'second', has(19)), false);
  assert.is(await open.isCovered(PAYER, 'second', has(20)), true);
  open.enter(shown('of another', { payer: OTHER }));
  assert.is(await open.isCovered(OTHER, 'of another', has(10)), true);
  assert.is(await open.isCovered(OTHER, 'of another', () => Promise.resolve(null)), null);
});

test('what is spent while the balance is being read counts once more than the balance says', async () => {
  const open = new OpenAuthorizations();
  open.enter(shown('first'));
  open.enter(shown('second'));
  const isCovered = open.isCovered(PAYER, 'second', async () => {
    open.note(PAYER, 'first', 'spent');
    return atomicAmount('10');
  });
  assert.is(await isCovered, false);
  assert.is(await open.isCovered(PAYER, 'second', has(10)), true);
});

test('an authorization counts from the call that shows it until the disk says that it is spent or over', () => {
  const open = new OpenAuthorizations();
  const [call, duplicate] = [open.enter(shown('one')), open.enter(shown('one'))];
  call[Symbol.dispose]();
  assert.is(open.countOf(PAYER), 1);
  open.note(PAYER, 'one', 'open');
  duplicate[Symbol.dispose]();
  assert.is(open.countOf(PAYER), 1);
  open.note(PAYER, 'one', 'over');
  assert.is(open.countOf(PAYER), 0);
});

test('one whose settlement was begun is money that is good for nothing else, and is not spent yet', async () => {
  const open = new OpenAuthorizations();
  const call = open.enter(shown('begun'));
  open.enter(shown('next'));
  open.note(PAYER, 'begun', 'open');
  call[Symbol.dispose]();
  assert.is(await open.isCovered(PAYER, 'next', has(19)), false);
  assert.is(await open.isCovered(PAYER, 'next', has(20)), true);
  open.note(PAYER, 'begun', 'spent');
  assert.is(await open.isCovered(PAYER, 'next', has(10)), true);
});

test('a wallet that never paid has one batch open, and a node so many of them', () => {
  const open = new OpenAuthorizations(2);
  const batch = { isBatch: true, isNewcomer: true };
  const first = open.enter(shown('one', batch));
  open.enter(shown('one', batch));
  open.enter(shown('no batch', { isNewcomer: true }));
  assert.throws(() => open.enter(shown('two', batch)), /wallet-busy/);
  open.restore(shown('left', { ...batch, payer: OTHER }));
  const third = walletAddress(`0x${'c'.repeat(40)}`);
  assert.throws(() => open.enter(shown('three', { ...batch, payer: third })), /node-busy/);
  open.enter(shown('four', { isBatch: true, payer: third }));
  open.enter(shown('five', { isBatch: true, payer: third }));
  open.note(OTHER, 'left', 'over');
  open.enter(shown('three', { ...batch, payer: third }));
  first[Symbol.dispose]();
  assert.throws(() => open.enter(shown('two', batch)), /wallet-busy/);
});

test('what is prepared for a wallet has so many bytes at once, fewer where it never paid; callers of one call have one body', () => {
  for (const isNewcomer of [true, false]) {
    const open = new OpenAuthorizations();
    const most = isNewcomer ? WALLET_ALLOWANCE.newcomerPreparedBytes : WALLET_ALLOWANCE.preparedBytes;
    const first = open.enter(shown('one', { isNewcomer }));
    const second = open.enter(shown('two', { isNewcomer }));
    open.prepare(PAYER, 'one', most - 10);
    open.prepare(PAYER, 'one', most - 10);
    assert.throws(() => open.prepare(PAYER, 'two', 11), /wallet-busy/);
    open.prepare(PAYER, 'two', 10);
    open.enter(shown('three', { isNewcomer, payer: OTHER }));
    open.prepare(OTHER, 'three', most);
    // Of unknown fate: what is prepared stays until that is known.
    open.note(PAYER, 'one', 'open');
    first[Symbol.dispose]();
    assert.throws(() => open.prepare(PAYER, 'two', 11), /wallet-busy/);
    open.note(PAYER, 'one', 'over');
    open.prepare(PAYER, 'two', most);
    second[Symbol.dispose]();
  }
});

test('what a run before left prepared counts', () => {
  const open = new OpenAuthorizations();
  open.restore(shown('left'), WALLET_ALLOWANCE.preparedBytes);
  open.enter(shown('one'));
  assert.throws(() => open.prepare(PAYER, 'one', 1), /wallet-busy/);
  open.note(PAYER, 'left', 'spent');
  open.prepare(PAYER, 'one', 1);
});

test('whatever comes between, what is let through is never more than the wallet has', async () => {
  const steps = fc.array(fc.tuple(fc.nat(5), fc.constantFrom('ask', 'spent', 'over', 'leave')), { maxLength: 40 });
  await fc.assert(
    fc.asyncProperty(steps, fc.nat(50), async (history, funds) => {
      const open = new OpenAuthorizations();
      const calls = new Map<string, Disposable>();
      const covered = new Set<string>();
      let balance = funds;
      for (const [n, step] of history) {
        const name = String(n);
        const isOpen = covered.has(name);
        if (step === 'ask' && !calls.has(name)) {
          calls.set(name, open.enter(shown(name)));
          if (await open.isCovered(PAYER, name, has(balance))) covered.add(name);
          assert.ok(covered.size * 10 <= balance, 'more is open than the wallet has');
        }
        if (step === 'spent' && isOpen) balance -= 10;
        if ((step === 'spent' || step === 'over') && isOpen) open.note(PAYER, name, step);
        if (step !== 'ask' && calls.has(name)) {
          calls.get(name)?.[Symbol.dispose]();
          calls.delete(name);
          covered.delete(name);
        }
      }
      for (const call of calls.values()) call[Symbol.dispose]();
      assert.is(open.countOf(PAYER), 0);
    }),
  );
});

test.run();
