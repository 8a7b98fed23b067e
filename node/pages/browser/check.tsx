import { render } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { timestampOf } from '../../../protocol/time.ts';
import { Foreign } from '../server/foreign.tsx';
import { STATES } from '../state.ts';
import { Found, verdictOf } from './found.tsx';
import type { PackProgress } from './judge-pack-file.ts';
import type { Judged } from './judge-text.ts';
import { type Pin, PinForm } from './pin.tsx';

/** Longest text that is read: 16 MiB. A pack may be of any length. */
const MAX_FILE_BYTES = 16 << 20;

/** How a ZIP begins, as packs of evidence are. */
const ZIP_MARK = 'PK\u0003\u0004';

/** A pack stays where it is and is read piece by piece; a text that is too long is null. */
type Dropped = { readonly name: string } & ({ readonly pack: File } | { readonly bytes: Uint8Array | null });

/** How far the checking of a pack is. */
interface Progress extends PackProgress {
  readonly name: string;
}

interface Checked {
  readonly name: string;
  readonly judged: Judged;
}

/** A place to drop files, and what came of each. Nothing leaves the page. */
function Checker() {
  const [pin, setPin] = useState<Pin | null>(null);
  const [dropped, setDropped] = useState<readonly Dropped[]>([]);
  const [checked, setChecked] = useState<readonly Checked[] | null>(null);
  const [progress, setProgress] = useState<Progress | null>(null);
  const round = useRef(0);
  // All that the page needs, while there still is a network.
  useEffect(
    () => void Promise.all([import('./judge-text.ts'), import('./judge-pack-file.ts'), import('./pin-words.ts')]),
    [],
  );
  useEffect(() => {
    const own = ++round.current;
    setChecked(null);
    setProgress(null);
    // What was asked later counts.
    const isAsked = (): boolean => own === round.current;
    void checkAll(dropped, pin, (now) => isAsked() && setProgress(now)).then((found) => isAsked() && setChecked(found));
  }, [dropped, pin]);
  const take = async (files: readonly File[]): Promise<void> => setDropped(await Promise.all(files.map(readFile)));
  return (
    <>
      <PinForm onPin={setPin} />
      <form
        class="drop"
        onSubmit={(event) => event.preventDefault()}
        onDragOver={(event) => event.preventDefault()}
        onDrop={(event) => {
          event.preventDefault();
          void take([...(event.dataTransfer?.files ?? [])]);
        }}
      >
        <label for="files">Drop files here, or choose them</label>
        <input
          id="files"
          type="file"
          multiple
          onChange={({ currentTarget }) => void take([...(currentTarget.files ?? [])])}
        />
        <label for="folder">or a folder</label>
        <input
          id="folder"
          type="file"
          multiple
          ref={(input) => input?.setAttribute('webkitdirectory', '')}
          onChange={({ currentTarget }) => void take([...(currentTarget.files ?? [])])}
        />
      </form>
      <div role="status" id="result">
        {dropped.length === 0 ? (
          <p>No file yet. With the network off it works as well.</p>
        ) : checked === null ? (
          <Under count={dropped.length} progress={progress} />
        ) : (
          <Results checked={checked} isPinned={pin !== null} />
        )}
      </div>
    </>
  );
}

/** That files are being checked, and how far the pack among them is. */
function Under({ count, progress }: { readonly count: number; readonly progress: Progress | null }) {
  return (
    <>
      <p>… {count} files are checked.</p>
      {progress === null ? null : (
        <p>
          <label for="progress">
            <Foreign text={progress.name} />: {progress.records} records so far
          </label>{' '}
          <progress id="progress" max={1} value={progress.done} />
        </p>
      )}
    </>
  );
}

function Results({ checked, isPinned }: { readonly checked: readonly Checked[]; readonly isPinned: boolean }) {
  return (
    <>
      {checked.map(({ name, judged }, i) => {
        const { state, sentence } = verdictOf(judged, isPinned);
        return (
          <section key={i} class="result" aria-label={name}>
            <h2 class={state}>
              <span aria-hidden="true">{STATES[state].mark}</span> {sentence}
            </h2>
            <p>
              <Foreign text={name} />
            </p>
            <Found judged={judged} isPinned={isPinned} />
          </section>
        );
      })}
      <button type="button" onClick={() => save(checked, isPinned)}>
        Save the result as a file
      </button>
    </>
  );
}

async function readFile(file: File): Promise<Dropped> {
  const name = file.webkitRelativePath || file.name;
  if ((await file.slice(0, ZIP_MARK.length).text()) === ZIP_MARK) return { name, pack: file };
  return { name, bytes: file.size > MAX_FILE_BYTES ? null : new Uint8Array(await file.arrayBuffer()) };
}

async function checkAll(
  dropped: readonly Dropped[],
  pin: Pin | null,
  onProgress: (progress: Progress) => void,
): Promise<readonly Checked[]> {
  if (dropped.length === 0) return [];
  const { judgeText } = await import('./judge-text.ts');
  const known = { at: timestampOf(Date.now()), ...pin };
  const checked: Checked[] = [];
  for (const one of dropped) {
    const { name } = one;
    if ('pack' in one) {
      const { judgePackFile } = await import('./judge-pack-file.ts');
      const verdict = await judgePackFile(one.pack, known, (progress) => onProgress({ name, ...progress }));
      checked.push({ name, judged: { kind: 'pack', verdict } });
      continue;
    }
    const fault = `it is longer than ${MAX_FILE_BYTES} bytes`;
    const judged = one.bytes === null ? { kind: 'unreadable' as const, fault } : await judgeText(one.bytes, known);
    checked.push({ name, judged });
  }
  return checked;
}

/** The words and problems of every file, as JSON, to the visitor's own disk. */
function save(checked: readonly Checked[], isPinned: boolean): void {
  const results = checked.map(({ name, judged }) => {
    const { state, sentence } = verdictOf(judged, isPinned);
    const rest = judged.kind === 'bundle' ? { verdict: judged.verdict } : judged;
    return { file: name, state, sentence, ...rest };
  });
  const url = URL.createObjectURL(new Blob([JSON.stringify({ results }, null, 2)], { type: 'application/json' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = 'meridian-verify-result.json';
  link.click();
  URL.revokeObjectURL(url);
}

const place = document.getElementById('check');
if (place !== null) {
  place.replaceChildren();
  render(<Checker />, place);
}
