import { MAX_CODE_CHARACTERS } from '../../../protocol/api/second-factors.ts';
import { requestOptions } from '../../accounts/second-factors/passkeys.ts';
import { challengeFor, passkeysOf, type ShownFactor } from '../../accounts/second-factors/proof.ts';
import type { SecondFactors as HeldFactors } from '../../accounts/second-factors/second-factor-table.ts';
import type { SecondFactors } from '../../accounts/second-factors/second-factors.ts';
import type { FormField, FormSection } from '../../pages/console-page.ts';

/** The field for a code of an app, or a recovery code. */
export const CODE_FIELD: FormField = {
  name: 'code',
  title: 'Code',
  kind: 'text',
  choices: [],
  isRequired: true,
  value: '',
  help: 'Of your authenticator app, or one of your recovery codes.',
  error: null,
  maxLength: MAX_CODE_CHARACTERS,
};

/** What was shown by a form beside a link or a sign-in of this secret. */
export function shownBy(typed: URLSearchParams, secret: string): ShownFactor {
  return {
    code: typed.get('code')?.trim() ?? '',
    passkey: typed.get('passkey') ?? '',
    secret,
  };
}

/** A form once more for each way to show a second factor: by a code, and by a passkey where there is one. */
export async function factorForms(
  { site }: Pick<SecondFactors, 'site'>,
  held: HeldFactors,
  secret: string,
  form: FormSection,
): Promise<readonly FormSection[]> {
  const byCode = { ...form, title: `${form.title}, with a code`, fields: [...form.fields, CODE_FIELD] };
  const passkeys = passkeysOf(held);
  if (site === null || passkeys.length === 0) return [byCode];
  const options = JSON.stringify(await requestOptions(site, passkeys, challengeFor(held, secret)));
  return [{ ...form, title: `${form.title}, with a passkey`, passkey: { ceremony: 'get', options } }, byCode];
}
