import * as assert from 'uvu/assert';
import { timestampOf } from '../../protocol/time.ts';
import { consensusOf, FederationLog } from '../fixtures/federation-log.ts';
import { proofIn } from '../fixtures/federation-log-batch.ts';
import { bundleOf, linkedOf, viewOf } from '../fixtures/federation-log-bundle.ts';
import { at, counted, verdictOf } from '../protocol/verdict/judged.ts';
import { trustTests } from './claims.ts';
import { Ledger } from './ledger.ts';

const YEAR_2031 = timestampOf(Date.UTC(2031, 0, 1));
/** Of a bundle with five members, and of each further record of the same batch (protocol §7). In bytes. */
const MAX_BUNDLE = 90_000;
const MAX_FURTHER = 8000;

await trustTests({
  'invented anchors, past, future or ahead of what anybody has read, prove nothing, of a record and of a linked one':
    async (claim) => {
      const { log, ...ledger } = await withRecord('us');
      const undecided = await log.seal('eu');
      const known = { pin: log.genesis };
      const main = await bundleOf(log, undecided);
      const other = await bundleOf(log, ledger.sealed);
      claim({ what: 'nothing invented', bundle: main, known, log, word: 'no-decision-yet' });
      for (const [what, time, word] of [
        ['2020', Date.UTC(2020, 0, 1), 'misdated'],
        ['now', log.now, 'too-few-checkpoints'],
        ['2100', Date.UTC(2100, 0, 1), 'too-few-checkpoints'],
      ] as const) {
        for (const index of [0, 1, 900]) {
          const twist = { index, consensusTimestamp: consensusOf(time), payer: log.account('eu') };
          const decision = {
            text: log.decisionText(log.messageOf(undecided), twist),
            paths: log.decisionProof(0, [1]).paths,
          };
          // Another decision stands there, as anyone who has read the ledger knows.
          const atNode = index === 0 ? 'contradicted' : word;
          claim({ what: `${what} at ${index}`, bundle: { ...main, decision }, known, log, word, atNode });
          const linked = [{ ...linkedOf(log, undecided, 0, other), decision }];
          const words = { word: 'verified', linked: [word], linkedAtNode: [atNode] } as const;
          claim({ what: `linked, ${what} at ${index}`, bundle: { ...other, linked }, known, log, ...words });
        }
      }
    },

  'a decision without checkpoints, however well its texts hash, is not on the ledger': async (claim) => {
    const { log, sealed } = await withRecord('eu');
    const bundle = await bundleOf(log, sealed, 0, { witnesses: [] });
    claim({ what: 'no checkpoints', bundle, known: { pin: log.genesis }, log, word: 'too-few-checkpoints' });
    claim({ what: 'without a pin', bundle, known: {}, word: 'too-few-checkpoints' });
  },

  'one false page of one mirror deceives one member at most, and what it hid is confirmed later': async (claim) => {
    const { log } = await withRecord('us');
    const page = await FederationLog.create();
    await page.record('us');
    const sealed = await log.seal('eu');
    page.decide(await page.seal('eu'));
    assert.is(page.indexOf(sealed), 1, 'the page shows the batch that the ledger never had');
    const honest = await Promise.all(['us', 'ca', 'jp', 'eu'].map((node) => log.checkpoint(node)));
    const checkpoints = [await page.checkpoint('sg'), ...honest];
    const known = { pin: log.genesis };
    const deceived = await bundleOf(page, sealed, 0, { checkpoints });
    claim({ what: 'by the page', bundle: deceived, known, log, word: 'too-few-checkpoints' });
    const { decision: _page, ...rest } = deceived;
    claim({
      what: 'by who did not see the page',
      bundle: { ...rest, decision: null },
      known,
      log,
      word: 'no-decision-yet',
    });
    await log.record('ca');
    log.decide(sealed);
    claim({ what: 'by the ledger', bundle: await bundleOf(log, sealed), known, log, word: 'verified' });
    const what = 'by the page, after that';
    claim({ what, bundle: deceived, known, log, word: 'too-few-checkpoints', atNode: 'contradicted' });
  },

  'the origin does not say verified by its own word, unless it is the whole federation': async (claim) => {
    const { log, sealed } = await withRecord('eu');
    const known = { pin: log.genesis };
    const own = await bundleOf(log, sealed, 0, { witnesses: ['eu'] });
    claim({ what: 'its own checkpoint', bundle: own, known, log, word: 'too-few-checkpoints' });
    assert.not(verdictOf(log, own, { log: viewOf(log, [sealed]), anchored: true }).verified);
    const two = await bundleOf(log, sealed, 0, { witnesses: ['eu', 'us', 'ca'] });
    claim({ what: 'and two of a quorum of three', bundle: two, known, log, word: 'too-few-checkpoints' });
    const alone = await Ledger.create({ nodes: ['eu'], seed: 'alone' });
    const bundle = await bundleOf(alone.log, await alone.record('eu'));
    claim({ what: 'a federation of one', bundle, known: { pin: alone.log.genesis }, log: alone.log, word: 'verified' });
  },

  'a batch sealed in 2031 is misdated, whoever vouches for it': async (claim) => {
    const ledger = await Ledger.create();
    const sealed = await ledger.record('eu', [{ submittedAt: YEAR_2031 }], { sealedAt: YEAR_2031 });
    const bundle = await bundleOf(ledger.log, sealed);
    claim({ what: '2031', bundle, known: { pin: ledger.log.genesis }, log: ledger.log, word: 'misdated' });
  },

  'a public proof with another record’s body is not signed': async (claim) => {
    const ledger = await Ledger.create();
    const { log } = ledger;
    const sealed = await ledger.record('eu', [{}, { claims: { modelId: 'another' } }]);
    const bundle = await bundleOf(log, sealed);
    const known = { pin: log.genesis };
    const proof = { ...bundle, record: { ...bundle.record, body: null } };
    claim({ what: 'the proof', bundle: proof, known, log, word: 'verified' });
    const { body } = proofIn(sealed, 1).record;
    claim({
      what: 'with a body',
      bundle: { ...proof, record: { ...proof.record, body } },
      known,
      log,
      word: 'not-signed',
    });
  },

  'a stranger’s federation of 200 members costs no signature': async (claim) => {
    const nodes = Array.from({ length: 200 }, (_, i) => nodeName(i));
    const stranger = await FederationLog.create({ seed: 'stranger', nodes, quorum: 199 });
    const bundle = await bundleOf(stranger, await stranger.record(at(nodes)), 0, { witnesses: nodes });
    const log = await FederationLog.create();
    const { verdict, signatures } = counted(bundle, { pin: log.genesis });
    assert.equal([verdict.word, signatures], ['pin-does-not-join', 0]);
    claim({ what: '200 members', bundle, known: { pin: log.genesis }, log, word: 'pin-does-not-join' });
  },

  'a checkpoint covers every batch before it: bundles do not grow with the log, and stay small': async (claim) => {
    const ledger = await Ledger.create();
    const { log } = ledger;
    const sealed = await ledger.record('eu', [{}, {}, {}]);
    const size = async () => {
      const bundle = await bundleOf(log, sealed, 0, { witnesses: ['us', 'ca', 'sg', 'jp'] });
      claim({ what: `a log of ${log.size}`, bundle, known: { pin: log.genesis }, log, word: 'verified' });
      const linked = [linkedOf(log, sealed, 1, bundle)].map(({ record, receipt, batch }) => ({
        record,
        receipt: { statement: receipt.statement, path: receipt.path },
        batch: batch && { envelope: batch.envelope, path: batch.path },
      }));
      const more = { ...bundle, linked };
      claim({
        what: 'with a linked one',
        bundle: more,
        known: { pin: log.genesis },
        log,
        word: 'verified',
        linked: ['verified'],
      });
      return [JSON.stringify(bundle).length, JSON.stringify(more).length] as const;
    };
    const [early] = await size();
    for (let i = 0; i < 200; i++) await ledger.record(i % 2 === 0 ? 'us' : 'ca', [{ account: `acc_${i}` }]);
    const [late, further] = await size();
    assert.ok(late < MAX_BUNDLE, `${late} bytes`);
    assert.ok(late - early < 4000, `${late - early} bytes more after 200 batches`);
    assert.ok(further - late < MAX_FURTHER, `${further - late} bytes for a further record`);
  },
});

function nodeName(i: number): string {
  return `${String.fromCharCode(97 + Math.floor(i / 260), 97 + (Math.floor(i / 10) % 26))}${i % 10}`;
}

async function withRecord(node: string) {
  const ledger = await Ledger.create();
  return { log: ledger.log, sealed: await ledger.record(node) };
}
