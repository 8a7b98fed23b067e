import { hashText } from '../../../protocol/hash.ts';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { nativeSuite } from '../../../node/keys/native-suite.ts';
import { MAX_IDENTITY_KEYS } from '../../../protocol/log/decision-state.ts';
import { initialState, withRoster } from '../../../protocol/log/in-force.ts';
import { type Roster, rosterStatement } from '../../../protocol/log/roster.ts';
import { RosterError } from '../../../protocol/log/roster-error.ts';
import { RosterHistory } from '../../../protocol/log/roster-history.ts';
import { judgeAfter, judgeNext } from '../../../protocol/log/roster-rules.ts';
import { fc } from '../../fixtures/properties.ts';
import { accountOf, genesisOf, identityKeyOf, memberOf } from './topic.ts';

const NAMES = ['us', 'eu', 'ca', 'jp'];

/** Members of a roster: each a node, whose account it has, and whose identity key. */
const draft = fc.uniqueArray(fc.record({ node: name(), account: name(), key: name() }), {
  minLength: 1,
  maxLength: NAMES.length,
  selector: ({ node }) => node,
});

function name() {
  return fc.constantFrom(...NAMES);
}

function outcomeOf(judge: () => Roster): Roster | string {
  try {
    return judge();
  } catch (error) {
    if (error instanceof RosterError) return error.code;
    throw error;
  }
}

test('a chain and a log of decisions judge every next roster alike', () => {
  const seen = new Set<string>();
  const property = fc.property(fc.array(draft, { maxLength: 12 }), (drafts) => {
    const genesis = genesisOf(['us', 'eu']);
    const text = rosterStatement.write(genesis);
    let state = initialState(nativeSuite, text);
    const history = new RosterHistory(nativeSuite, genesis, hashText(nativeSuite, text));
    for (const members of drafts) {
      const next = rosterStatement.write({
        ...genesis,
        version: history.version + 1,
        previous: history.hash,
        quorum: members.length === 1 ? 0 : 1,
        members: members.map(({ node, account, key }) =>
          memberOf(node, { accounts: [accountOf(account)], identityKey: identityKeyOf(key) }),
        ),
      });
      const outcome = outcomeOf(() => judgeAfter(nativeSuite, history, next));
      assert.equal(
        outcomeOf(() => judgeNext(nativeSuite, state, next)),
        outcome,
      );
      seen.add(typeof outcome === 'string' ? outcome : 'taken');
      if (typeof outcome === 'string') continue;
      const hash = hashText(nativeSuite, next);
      state = withRoster(nativeSuite, state, outcome, { hash, index: null });
      history.add(nativeSuite, outcome, hash);
    }
  });
  fc.assert(property, { numRuns: 300 });
  for (const outcome of ['taken', 'account-passed', 'identity-key-passed', 'other-operator']) {
    assert.ok(seen.has(outcome), outcome);
  }
});

test('a node that goes back and forth between two identity keys has had two', () => {
  const genesis = genesisOf(['us', 'eu']);
  const history = new RosterHistory(nativeSuite, genesis, hashText(nativeSuite, rosterStatement.write(genesis)));
  const withKey = (key: string): Roster => ({
    ...genesis,
    version: history.version + 1,
    previous: history.hash,
    members: [memberOf('us'), memberOf('eu', { identityKey: identityKeyOf(key) })],
  });
  for (let turn = 0; turn <= MAX_IDENTITY_KEYS; turn++) {
    const text = rosterStatement.write(withKey(turn % 2 === 0 ? 'one' : 'eu'));
    history.add(nativeSuite, judgeAfter(nativeSuite, history, text), hashText(nativeSuite, text));
  }
  const next = withKey('three');
  assert.equal(judgeAfter(nativeSuite, history, rosterStatement.write(next)), next);
});

test.run();
