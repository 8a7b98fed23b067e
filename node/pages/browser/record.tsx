import { render } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { timestampOf } from '../../../protocol/time.ts';
import { STATES } from '../state.ts';
import { Found, verdictOf } from './found.tsx';
import type { Judged } from './judge-text.ts';
import { type Pin, PinForm } from './pin.tsx';

/** What came of the check in this browser. */
type Outcome = { readonly judged: Judged; readonly milliseconds: number } | { readonly fault: string };

/** Fetches a proof of the record from its node, and judges it here. */
function OwnCheck({ id, root }: { readonly id: string; readonly root: string }) {
  const [proof, setProof] = useState<Uint8Array | null>(null);
  const [outcome, setOutcome] = useState<Outcome | null>(null);
  const [pin, setPin] = useState<Pin | null>(null);
  useEffect(() => {
    void proofOf(id, root).then(setProof, (error: unknown) => setOutcome({ fault: messageOf(error) }));
  }, [id, root]);
  useEffect(() => {
    if (proof !== null) void judgedProof(proof, pin).then(setOutcome);
  }, [proof, pin]);
  const { className, sentence } = said(outcome, id, pin !== null);
  return (
    <>
      <p role="status" class={`state ${className}`}>
        {sentence}
      </p>
      <PinForm onPin={setPin} />
      {outcome !== null && 'judged' in outcome ? (
        <>
          <Found judged={outcome.judged} isPinned={pin !== null} />
          <p>Checked in {Math.round(outcome.milliseconds)} ms.</p>
        </>
      ) : null}
    </>
  );
}

/** With a share link its bundle, else the public proof. */
async function proofOf(id: string, root: string): Promise<Uint8Array> {
  const share = new URLSearchParams(location.hash.slice(1)).get('share');
  const path = share === null ? `v1/proofs/${encodeURIComponent(id)}` : `v1/shared/${encodeURIComponent(share)}`;
  const answer = await fetch(root + path, { headers: { accept: 'application/json' } });
  if (!answer.ok) throw new Error(`this node answers ${answer.status} when asked for the proof`);
  return new Uint8Array(await answer.arrayBuffer());
}

/**
 * Judged anew, never remembered; what judges is loaded once it is needed. A pin comes from the visitor alone: one in a
 * link would be its sender's.
 */
async function judgedProof(proof: Uint8Array, pin: Pin | null): Promise<Outcome> {
  try {
    const { judgeText } = await import('./judge-text.ts');
    const start = performance.now();
    const judged = await judgeText(proof, { at: timestampOf(Date.now()), ...pin });
    return { judged, milliseconds: performance.now() - start };
  } catch (error) {
    return { fault: messageOf(error) };
  }
}

function said(outcome: Outcome | null, id: string, isPinned: boolean) {
  if (outcome === null) return { className: 'not-yet', sentence: '… Your browser fetches the proof and checks it.' };
  if ('fault' in outcome) return { className: 'does-not-hold', sentence: `✕ Not checked: ${outcome.fault}` };
  const { judged } = outcome;
  if (judged.kind !== 'bundle' || judged.verdict.record?.id !== id) {
    const sentence = '✕ Does not hold: the node answered with the proof of another record.';
    return { className: 'does-not-hold', sentence };
  }
  const { state } = verdictOf(judged, isPinned);
  const under = isPinned ? 'under the fingerprint that you gave' : 'with the federation that this node names';
  const { mark, title } = STATES[state];
  return { className: state, sentence: `${mark} ${title}: checked in this browser, just now, ${under}.` };
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
