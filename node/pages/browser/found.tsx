import type { JsonValue } from '../../../protocol/json/value.ts';
import { CHECKS } from '../../../protocol/verdict/problem.ts';
import { Code, Foreign, Moment } from '../server/foreign.tsx';
import { CHECK_WORDS, NOT_PROVEN } from '../../../protocol/verdict/plain-words.ts';
import { STATES, type State, stateOf } from '../state.ts';
import type { Judged } from './judge-text.ts';
import { PackFound, packVerdictOf } from './pack-found.tsx';

type JudgedBundle = Extract<Judged, { readonly kind: 'bundle' }>;

/** The state and the sentence of what came of a file. `isPinned`: whether the visitor brought a pin. */
export function verdictOf(judged: Judged, isPinned: boolean): { readonly state: State; readonly sentence: string } {
  switch (judged.kind) {
    case 'unreadable':
      return { state: 'does-not-hold', sentence: `Cannot be read: ${judged.fault}` };
    case 'bundle': {
      const state = stateOf(judged.verdict.word, isPinned);
      return { state, sentence: `${STATES[state].title}.` };
    }
    case 'misbehaviour': {
      const { word, misdeed, accused } = judged.accusation;
      const isProven = word === 'proven' && isPinned;
      const state = isProven ? 'proven' : word === 'proven' || word === 'consistent' ? 'consistent' : 'does-not-hold';
      const whose = accused === null ? '' : ` by ${accused}`;
      return { state, sentence: `Misbehaviour (${misdeed})${whose}: ${isProven ? 'proven' : `not proven, ${word}`}.` };
    }
    case 'rosters':
      return { state: 'consistent', sentence: `Rosters that join, up to version ${judged.newest.version}.` };
    case 'pack':
      return packVerdictOf(judged.verdict, isPinned);
    case 'audit-log': {
      const { first, last, lost } = judged.log;
      const sentence = `A key-use log without a gap, lines ${first} to ${last}${lost === 0 ? '' : `, ${lost} lost`}.`;
      return { state: 'consistent', sentence };
    }
  }
}

/** What was found, and what of it is proven: the verdict first, and again at the end. */
export function Found({ judged, isPinned }: { readonly judged: Judged; readonly isPinned: boolean }) {
  return (
    <>
      {judged.kind === 'bundle' ? <BundleFound judged={judged} isPinned={isPinned} /> : null}
      {judged.kind === 'pack' ? <PackFound verdict={judged.verdict} isPinned={isPinned} /> : null}
      {judged.kind === 'misbehaviour' ? <p>{judged.accusation.detail || 'Nothing speaks against it.'}</p> : null}
      {judged.kind === 'rosters' ? (
        <p>
          Fingerprint of the federation: <Code text={judged.federation} />. Newest roster:{' '}
          <Code text={judged.newest.hash} />
        </p>
      ) : null}
      {judged.kind === 'audit-log' ? (
        <p>
          Compare the head <Code text={judged.log.head} /> and those of its {judged.log.days.length} days with the
          attested ones.
        </p>
      ) : null}
    </>
  );
}

function BundleFound({ judged, isPinned }: { readonly judged: JudgedBundle; readonly isPinned: boolean }) {
  const { verdict, bundle, path, checkedBy } = judged;
  const { record, ledger, facts, checks, problems, witnesses, word, federation } = verdict;
  const { state, sentence } = verdictOf(judged, isPinned);
  return (
    <>
      {record === null ? null : (
        <dl>
          <dt>Record</dt>
          <dd>
            <Code text={record.id} />
          </dd>
          <dt>Signed</dt>
          <dd>
            by node <Foreign text={record.node} />, <Moment at={record.submittedAt} />
            {facts.signed === 'holds' ? '' : ' (so the file says)'}
          </dd>
          <dt>On the ledger</dt>
          <dd>{ledger === null ? 'not shown' : <Moment at={ledger.at} />}</dd>
          <dt>Vouched for by</dt>
          <dd>{witnesses.join(', ') || 'nobody'}</dd>
          <dt>Federation</dt>
          <dd>{federation === null ? 'unreadable' : <Code text={federation} />}</dd>
        </dl>
      )}
      <ul class="checks">
        {CHECKS.map((check) => {
          const isWithheld = check === 'payloadHashMatch' && facts.payload !== 'damaged' && !checks[check];
          return (
            <li key={check}>
              <span aria-hidden="true">{checks[check] ? '✔' : isWithheld ? '–' : '✕'}</span> {CHECK_WORDS[check]}:{' '}
              <strong>{checks[check] ? 'holds' : isWithheld ? 'not in this file' : 'does not hold'}</strong>{' '}
              <code>{check}</code>
            </li>
          );
        })}
      </ul>
      {problems.length === 0 ? null : (
        <ul>
          {problems.map(({ code, detail }) => (
            <li key={`${code} ${detail}`}>
              <code>{code}</code> <Foreign text={detail} />
            </li>
          ))}
        </ul>
      )}
      {facts.payload === 'disclosed' && facts.signed === 'holds' && bundle.disclosure !== undefined ? (
        <details>
          <summary>The content, as it was recorded</summary>
          <Content value={bundle.disclosure.payload} />
        </details>
      ) : null}
      <details>
        <summary>The path, step by step</summary>
        <ol>
          {path.map(({ what, hash }, i) => (
            <li key={`${i} ${hash}`}>
              {what} <code class="wrap">{hash}</code>
            </li>
          ))}
        </ol>
      </details>
      <details>
        <summary>What this does not prove</summary>
        <ul>
          {NOT_PROVEN.map((text) => (
            <li key={text}>{text}</li>
          ))}
        </ul>
      </details>
      <p>
        Word: <code>{word}</code>. Signatures checked by {checkedBy}.
      </p>
      <p class={state}>
        <span aria-hidden="true">{STATES[state].mark}</span> {sentence}
      </p>
    </>
  );
}

/** What somebody else wrote: text alone, a line each, so that nothing of it can reorder what stands beside it. */
function Content({ value }: { readonly value: JsonValue }) {
  return (
    <pre tabIndex={0}>
      {JSON.stringify(value, null, 2)
        .split('\n')
        .map((line, i) => [i === 0 ? '' : '\n', <Foreign key={i} text={line} />])}
    </pre>
  );
}
