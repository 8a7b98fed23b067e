import type { FormField, FormSection } from '../../console-page.ts';
import { Foreign } from '../foreign.tsx';
import type { SectionProps } from './console.tsx';

/** A form: it works without a script, and says of each field what is wrong with it. */
export function FormView({ section, root, token, id }: SectionProps<FormSection>) {
  const { title, about, danger, method, action, fields, hidden, submit, isDrafted, passkey } = section;
  const wrong = fields.filter(({ error }) => error !== null);
  return (
    <section aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      {about === null ? null : <p>{about}</p>}
      {danger === null ? null : <p class="state bad">▲ {danger}</p>}
      {wrong.length === 0 ? null : (
        <div class="state bad" role="alert">
          <p>▲ It was not taken. See:</p>
          <ul>
            {wrong.map(({ name, title: label, error }) => (
              <li key={name}>
                <a href={`#${id}-${name}`}>{label}</a>: <Foreign text={error ?? ''} />
              </li>
            ))}
          </ul>
        </div>
      )}
      <form
        method={method}
        action={root + action}
        class={method === 'get' ? 'fields filters' : 'fields'}
        autocomplete="off"
        {...(isDrafted ? { 'data-draft': action } : {})}
        {...(passkey === undefined ? {} : { 'data-passkey': passkey.ceremony, 'data-options': passkey.options })}
      >
        {method === 'post' && token !== null ? <input type="hidden" name="token" value={token} /> : null}
        {passkey === undefined ? null : <input type="hidden" name="passkey" value="" />}
        {hidden.map(([name, value]) => (
          <input key={name} type="hidden" name={name} value={value} />
        ))}
        {fields.map((field) => (
          <FieldView key={field.name} field={field} id={`${id}-${field.name}`} />
        ))}
        <button type="submit">{submit}</button>
        {passkey === undefined ? null : <p class="help" role="status" />}
      </form>
    </section>
  );
}

function FieldView({ field, id }: { readonly field: FormField; readonly id: string }) {
  const { title, isRequired, help, error } = field;
  const told = help === null && error === null ? {} : { 'aria-describedby': `${id}-about` };
  return (
    <div class="field">
      <label for={id}>
        {title}
        {isRequired ? ' (required)' : ''}
      </label>
      <Control field={field} id={id} told={{ ...told, ...(error === null ? {} : { 'aria-invalid': true as const }) }} />
      {help === null && error === null ? null : (
        <p class="help" id={`${id}-about`}>
          {error === null ? null : (
            <strong class="bad">
              ▲ <Foreign text={error} />{' '}
            </strong>
          )}
          {help === null ? null : <Foreign text={help} />}
        </p>
      )}
    </div>
  );
}

interface ControlProps {
  readonly field: FormField;
  readonly id: string;
  readonly told: { readonly 'aria-describedby'?: string; readonly 'aria-invalid'?: true };
}

function Control({ field: { name, kind, choices, isRequired, value, maxLength }, id, told }: ControlProps) {
  const shared = { id, name, ...told, ...(isRequired ? { required: true } : {}) };
  const bounded = maxLength === null ? {} : { maxLength };
  if (kind === 'area') {
    return (
      <textarea rows={4} {...shared}>
        {value}
      </textarea>
    );
  }
  if (kind === 'choice') {
    return (
      <select {...shared}>
        <option value="" />
        {choices.map((choice) => (
          <option key={choice} value={choice} selected={choice === value}>
            {choice}
          </option>
        ))}
      </select>
    );
  }
  if (kind === 'flag') return <input type="checkbox" value="yes" {...shared} />;
  if (kind === 'secret') return <input type="password" autocomplete="off" {...shared} {...bounded} />;
  return (
    <input type="text" inputMode={kind === 'number' ? 'numeric' : 'text'} value={value} {...shared} {...bounded} />
  );
}
