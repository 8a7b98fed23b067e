import { useState } from 'preact/hooks';
import { isSha256Hash, type Sha256Hash } from '../../../protocol/hash.ts';
import type { RosterFile } from '../../../protocol/verdict/bundle.ts';

/** What a visitor trusts: a fingerprint, or rosters of which the last is the pin. */
export type Pin = { readonly pin: Sha256Hash } | { readonly rosters: RosterFile };

interface PinFormProps {
  readonly onPin: (pin: Pin | null) => void;
}

/** A field for a fingerprint or its 24 words, and one for a file of rosters. Nothing is remembered or taken from a link. */
export function PinForm({ onPin }: PinFormProps) {
  const [typed, setTyped] = useState('');
  const [said, setSaid] = useState('sha256: and 64 digits, or 24 words');
  const [isBad, setBad] = useState(false);
  const refuse = (why: string): void => {
    setBad(true);
    setSaid(`✕ ${why}`);
    onPin(null);
  };
  const take = async (text: string): Promise<void> => {
    const given = text.trim();
    if (given === '') {
      setBad(false);
      setSaid('Nothing is pinned.');
      onPin(null);
      return;
    }
    if (isSha256Hash(given)) return pinned({ pin: given }, given);
    try {
      const { readWords } = await import('./pin-words.ts');
      const pin = readWords(given);
      pinned({ pin }, pin);
    } catch (error) {
      refuse(error instanceof Error ? error.message : String(error));
    }
  };
  const pinned = (pin: Pin, what: string): void => {
    setBad(false);
    setSaid(`Pinned: ${what}`);
    onPin(pin);
  };
  const takeFile = async (file: File): Promise<void> => {
    try {
      const { readPinnedRosters } = await import('./judge-text.ts');
      const rosters = readPinnedRosters(new Uint8Array(await file.arrayBuffer()));
      pinned({ rosters }, `the last roster of ${file.name}`);
    } catch (error) {
      refuse(error instanceof Error ? error.message : String(error));
    }
  };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        void take(typed);
      }}
    >
      <label for="pin">Fingerprint that you have from elsewhere</label>
      <input
        id="pin"
        name="pin"
        value={typed}
        maxLength={400}
        autocomplete="off"
        spellcheck={false}
        aria-invalid={isBad}
        aria-describedby="pin-form"
        onInput={({ currentTarget }) => setTyped(currentTarget.value)}
      />
      <button type="submit">Check under this pin</button>
      <label for="rosters">or a file of rosters</label>
      <input
        id="rosters"
        type="file"
        accept=".json,application/json"
        onChange={({ currentTarget }) => {
          const [file] = currentTarget.files ?? [];
          if (file !== undefined) void takeFile(file);
        }}
      />
      <p id="pin-form" role="status">
        {said}
      </p>
    </form>
  );
}
