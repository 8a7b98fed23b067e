import { render } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { isSha256Hash, type Sha256Hash } from '../../../protocol/hash.ts';
import { timestampOf } from '../../../protocol/time.ts';
import { CHECKS } from '../../../protocol/verdict/problem.ts';
import { Foreign } from '../server/foreign.tsx';
import { CHECK_WORDS, STATES, stateOf } from '../state.ts';
import type { JudgedBundle } from './judge-bundle.ts';

/** What came of the check in this browser. */
type Outcome = (JudgedBundle & { readonly milliseconds: number }) | { readonly fault: string };

/** Fetches a proof of the record from its node, and judges it here. */
function OwnCheck({ id, root }: { readonly id: string; readonly root: string }) {
  const [text, setText] = useState<string | null>(null);
  const [outcome, setOutcome] = useState<Outcome | null>(null);
  const [pin, setPin] = useState<Sha256Hash | null>(null);
  const [typed, setTyped] = useState('');
  useEffect(() => {
    void proofOf(id, root).then(setText, (error: unknown) => setOutcome({ fault: messageOf(error) }));
  }, [id, root]);
  useEffect(() => {
    if (text !== null) void judged(text, pin).then(setOutcome);
  }, [text, pin]);
  const isBad = typed.trim() !== '' && !isSha256Hash(typed.trim());
  return (
    <>
      <p role="status" class={`state ${stateClass(outcome, pin !== null)}`}>
        {said(outcome, id, pin !== null)}
      </p>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          const given = typed.trim();
          setPin(isSha256Hash(given) ? given : null);
        }}
      >
        <label for="pin">Fingerprint that you have from elsewhere</label>
        <input
          id="pin"
          name="pin"
          value={typed}
          maxLength={80}
          autocomplete="off"
          spellcheck={false}
          aria-invalid={isBad}
          aria-describedby="pin-form"
          onInput={({ currentTarget }) => setTyped(currentTarget.value)}
        />
        <button type="submit">Check under this pin</button>
      </form>
      <p id="pin-form">{isBad ? '✕ It has the form sha256: and 64 digits 0-9a-f.' : 'sha256: and 64 digits 0-9a-f'}</p>
      {outcome !== null && 'verdict' in outcome ? <Found outcome={outcome} /> : null}
    </>
  );
}

function Found({ outcome }: { readonly outcome: Extract<Outcome, JudgedBundle> }) {
  const { verdict, checkedBy, path, milliseconds } = outcome;
  return (
    <>
      <ul class="checks">
        {CHECKS.map((check) => {
          const isWithheld =
            check === 'payloadHashMatch' && verdict.facts.payload !== 'damaged' && !verdict.checks[check];
          return (
            <li key={check}>
              <span aria-hidden="true">{verdict.checks[check] ? '✔' : isWithheld ? '–' : '✕'}</span>{' '}
              {CHECK_WORDS[check]}:{' '}
              <strong>{verdict.checks[check] ? 'holds' : isWithheld ? 'not in this file' : 'does not hold'}</strong>{' '}
              <code>{check}</code>
            </li>
          );
        })}
      </ul>
      {verdict.problems.length === 0 ? null : (
        <ul>
          {verdict.problems.map(({ code, detail }) => (
            <li key={`${code} ${detail}`}>
              <code>{code}</code> <Foreign text={detail} />
            </li>
          ))}
        </ul>
      )}
      <p>
        Word: <code>{verdict.word}</code>. Vouched for by {verdict.witnesses.join(', ') || 'nobody'}. Checked in{' '}
        {Math.round(milliseconds)} ms, signatures by {checkedBy}.
      </p>
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
    </>
  );
}

/** With a share link its bundle, else the public proof. */
async function proofOf(id: string, root: string): Promise<string> {
  const share = new URLSearchParams(location.hash.slice(1)).get('share');
  const path = share === null ? `v1/proofs/${encodeURIComponent(id)}` : `v1/shared/${encodeURIComponent(share)}`;
  const answer = await fetch(root + path, { headers: { accept: 'application/json' } });
  if (!answer.ok) throw new Error(`this node answers ${answer.status} when asked for the proof`);
  return answer.text();
}

/** Judged anew, never remembered; what judges is loaded once it is needed. A pin comes from the visitor alone: one in a link would be its sender's. */
async function judged(text: string, pin: Sha256Hash | null): Promise<Outcome> {
  const start = performance.now();
  try {
    const { judgeBundleText } = await import('./judge-bundle.ts');
    const found = await judgeBundleText(text, { at: timestampOf(Date.now()), ...(pin === null ? {} : { pin }) });
    return { ...found, milliseconds: performance.now() - start };
  } catch (error) {
    return { fault: messageOf(error) };
  }
}

function said(outcome: Outcome | null, id: string, isPinned: boolean): string {
  if (outcome === null) return '… Your browser fetches the proof and checks it.';
  if ('fault' in outcome) return `✕ Not checked: ${outcome.fault}`;
  const { verdict } = outcome;
  if (verdict.record?.id !== id) return '✕ Does not hold: the node answered with the proof of another record.';
  const { mark, title } = STATES[stateOf(verdict.word, isPinned)];
  const under = isPinned ? 'under the fingerprint that you gave' : 'with the federation that this node names';
  return `${mark} ${title}: checked in this browser, just now, ${under}.`;
}

function stateClass(outcome: Outcome | null, isPinned: boolean): string {
  if (outcome === null) return 'not-yet';
  return 'fault' in outcome ? 'does-not-hold' : stateOf(outcome.verdict.word, isPinned);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

const place = document.getElementById('own-check');
const { id, root } = place?.dataset ?? {};
if (place !== null && id !== undefined && root !== undefined) {
  place.replaceChildren();
  render(<OwnCheck id={id} root={root} />, place);
}
