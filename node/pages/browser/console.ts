/** Beside each moment in UTC, the same on the visitor's clock. */
function showLocalTimes(): void {
  for (const time of document.querySelectorAll('time')) {
    const at = new Date(time.dateTime);
    if (!Number.isNaN(at.getTime())) time.title = at.toLocaleString(undefined, { timeZoneName: 'short' });
    const local = document.createElement('span');
    local.className = 'local';
    local.textContent = ` (${at.toLocaleTimeString(undefined, { hour: '2-digit', minute: '2-digit' })} here)`;
    if (!Number.isNaN(at.getTime())) time.after(local);
  }
}

/** What is typed into a form outlives a reload of its tab, and nothing else: it ends with the tab, or when it is sent. */
function keepDrafts(): void {
  for (const form of document.querySelectorAll<HTMLFormElement>('form[data-draft]')) {
    const key = `draft ${form.dataset.draft ?? ''}`;
    restore(form, sessionStorage.getItem(key));
    form.addEventListener('input', () => sessionStorage.setItem(key, JSON.stringify(typedInto(form))));
    form.addEventListener('submit', () => sessionStorage.removeItem(key));
  }
}

type Control = HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement;

function controlsOf(form: HTMLFormElement): readonly Control[] {
  const selector = 'input:not([type=hidden]):not([type=password]), select, textarea';
  return [...form.querySelectorAll<Control>(selector)];
}

function typedInto(form: HTMLFormElement): readonly (readonly [string, string])[] {
  return controlsOf(form).map(({ name, value }) => [name, value] as const);
}

function restore(form: HTMLFormElement, text: string | null): void {
  if (text === null) return;
  const kept: unknown = JSON.parse(text);
  const values = new Map(Array.isArray(kept) ? kept : []);
  for (const control of controlsOf(form)) {
    const value: unknown = values.get(control.name);
    // What the server gave back says more than the draft.
    if (typeof value === 'string' && control.value === '') control.value = value;
  }
}

/** Forms that a passkey is shown with: the browser asks its authenticator first, and sends what that answers. */
function askPasskeys(): void {
  for (const form of document.querySelectorAll<HTMLFormElement>('form[data-passkey]')) {
    const told = form.querySelector('[role=status]');
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      askPasskey(form).catch((error: unknown) => {
        if (told !== null) told.textContent = `No passkey was shown: ${String(error)}`;
      });
    });
  }
}

async function askPasskey(form: HTMLFormElement): Promise<void> {
  const { passkey: ceremony, options = '{}' } = form.dataset;
  const asked = JSON.parse(options);
  const credential =
    ceremony === 'create'
      ? await navigator.credentials.create({ publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(asked) })
      : await navigator.credentials.get({ publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(asked) });
  const field = form.elements.namedItem('passkey');
  if (!(credential instanceof PublicKeyCredential && field instanceof HTMLInputElement)) return;
  field.value = JSON.stringify(credential.toJSON());
  // Past the listener that asked for the passkey.
  form.submit();
}

showLocalTimes();
keepDrafts();
askPasskeys();
