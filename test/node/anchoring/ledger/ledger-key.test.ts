import { PrivateKey } from '@hashgraph/sdk';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { LedgerConfigError } from '../../../../node/anchoring/ledger/config.ts';
import { requireLedgerKeys } from '../../../../node/anchoring/ledger/ledger-key.ts';

const operatorKey = PrivateKey.generateED25519().toStringRaw();

test('keys of each form are taken, in upper case too', async () => {
  const [ed25519, ecdsa] = [PrivateKey.generateED25519(), PrivateKey.generateECDSA()];
  for (const submitKey of [ed25519.toStringRaw(), ed25519.toStringDer(), ecdsa.toStringDer()]) {
    for (const text of [submitKey, submitKey.toUpperCase()]) {
      await requireLedgerKeys({ operatorKey, submitKey: text });
      await requireLedgerKeys({ operatorKey: text });
    }
  }
});

test('a text that is no ledger key is refused by the name of its variable, and not shown', async () => {
  const der = PrivateKey.generateECDSA().toStringDer();
  for (const text of ['foo', '0x00', 'abc', '00'.repeat(31), `${operatorKey}00`, der.slice(0, -2)]) {
    assert.match(await refusalOf({ operatorKey: text }), /^LEDGER_OPERATOR_KEY: a ledger key is .* in hex$/);
    const refusal = await refusalOf({ operatorKey, submitKey: text });
    assert.match(refusal, /^LEDGER_SUBMIT_KEY: a ledger key is .* in hex$/);
    assert.not.match(refusal, text);
  }
});

async function refusalOf(keys: Parameters<typeof requireLedgerKeys>[0]): Promise<string> {
  try {
    await requireLedgerKeys(keys);
  } catch (error) {
    assert.instance(error, LedgerConfigError, String(error));
    return error instanceof Error ? error.message : '';
  }
  return 'accepted';
}

test.run();
