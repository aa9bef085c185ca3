import { useId, useState } from 'react';
import { isGrant } from '../../schema/grants.ts';
import { Button, IconButton } from '../design/Button.tsx';
import { Field } from '../design/Field.tsx';
import { useTexts } from '../i18n/locale.ts';
import { type SeenProps, useForm, useWordAt } from '../schema-form/context.ts';
import { nothing, useHelp } from '../schema-form/hints.ts';
import { GrantChip, meaningOf, SUGGESTED } from './Grants.tsx';
import texts from './texts.json' with { type: 'json' };

const textsIn = (value: unknown): string[] => (Array.isArray(value) ? value.map(String) : []);

/**
 * A widget of the schema form for a list of grants: each with its meaning, and an input that suggests more.
 */
export const GrantsField = (props: SeenProps) => {
  const t = useTexts(texts);
  const help = useHelp(props);
  const wordAt = useWordAt();
  const { errors } = useForm();
  const options = useId();
  const [typed, type] = useState('');
  const { label, path, onChange } = props;
  const grant = typed.trim();
  // Typed text is part of the value, so that a form sent before Enter has it; the list shows it once it is added.
  const all = textsIn(props.value);
  const grants = grant === '' ? all : all.slice(0, -1);
  const isUnknown = grant !== '' && !isGrant(grant);
  const change = (listed: readonly string[], text: string): void => {
    type(text);
    const next = text.trim() === '' ? listed : [...listed, text.trim()];
    onChange(next.length > 0 ? next : nothing(props, []));
  };
  const add = (): void => {
    if (grant !== '' && !isUnknown) change([...new Set([...grants, grant])], '');
  };
  const remove = (removed: string): void =>
    change(
      grants.filter((each) => each !== removed),
      typed,
    );
  return (
    <fieldset className="stack">
      <Field
        label={label}
        error={isUnknown ? t('invalid', { grant }) : errors.get(path)}
        hint={grant === '' || isUnknown ? help : meaningOf(grant, t)}
      >
        {(control) => (
          <span className="row">
            <input
              {...control}
              type="text"
              className="grow"
              list={options}
              autoComplete="off"
              spellCheck={false}
              value={typed}
              onChange={({ target }) => change(grants, target.value)}
              onKeyDown={(event) => {
                if (event.key !== 'Enter' || grant === '') return;
                event.preventDefault();
                add();
              }}
            />
            <Button small icon="plus" disabled={grant === '' || isUnknown} onClick={add}>
              {t('addOne')}
            </Button>
          </span>
        )}
      </Field>
      {grants.length === 0 && <p className="quiet">{wordAt(path, 'none') ?? t('none')}</p>}
      {grants.length > 0 && (
        <ul>
          {grants.map((each) => (
            <li key={each} className="row">
              <GrantChip grant={each} />
              <span className="grow quiet">{meaningOf(each, t)}</span>
              <IconButton
                small
                icon="trash"
                label={t('remove', { grant: each })}
                onClick={() => remove(each)}
              />
            </li>
          ))}
        </ul>
      )}
      <datalist id={options}>
        {SUGGESTED.filter((each) => !grants.includes(each)).map((each) => (
          <option key={each} value={each}>
            {meaningOf(each, t)}
          </option>
        ))}
      </datalist>
    </fieldset>
  );
};
