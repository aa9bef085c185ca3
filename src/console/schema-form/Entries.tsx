import { type ReactNode, useState } from 'react';
import type { JsonObject } from '../data/guard.ts';
import { Button, IconButton } from '../design/Button.tsx';
import { useTexts } from '../i18n/locale.ts';
import { useForm } from './context.ts';
import css from './SchemaForm.module.css';
import { type NodeProps, type SeenProps, uiOf, withMember } from './scalars.tsx';
import { placeOf, type Schema } from './schema.ts';
import { startOf } from './start.ts';
import { texts } from './texts.ts';

/** Members with names that nobody knows before. */
export const Entries = (
  props: Pick<SeenProps, 'ui' | 'path' | 'onChange'> & {
    value: JsonObject;
    rest: Schema;
    keys: readonly string[];
    /** One value. */
    draw: (props: NodeProps) => ReactNode;
  },
) => {
  const t = useTexts(texts);
  const { root, forget } = useForm();
  const { ui, path, value, rest, keys, draw, onChange } = props;
  const [key, setKey] = useState('');
  const mayAdd = key.trim() !== '' && !(key.trim() in value);
  const add = (): void => {
    if (!mayAdd) return;
    onChange({ ...value, [key.trim()]: startOf(rest, root) });
    setKey('');
  };
  return (
    <div className={css.entries}>
      {keys.map((name) => (
        <div key={name} className={css.entry}>
          {draw({
            schema: rest,
            ui: uiOf(ui, 'additionalProperties'),
            label: name,
            path: placeOf(path, name),
            value: value[name],
            isRequired: true,
            onChange: (member) => onChange({ ...value, [name]: member ?? null }),
          })}
          <IconButton
            small
            icon="trash"
            label={t('remove', { what: name })}
            onClick={() => {
              forget(placeOf(path, name));
              onChange(withMember(value, name, undefined));
            }}
          />
        </div>
      ))}
      <div className={css.adding}>
        <input
          type="text"
          className={css.key}
          aria-label={t('map.key', { what: path.split('.').at(-1) ?? '' })}
          value={key}
          spellCheck={false}
          onChange={(event) => setKey(event.target.value)}
          onKeyDown={(event) => {
            if (event.key === 'Enter') {
              event.preventDefault();
              add();
            }
          }}
        />
        <Button small icon="plus" disabled={!mayAdd} onClick={add}>
          {t('map.add')}
        </Button>
      </div>
    </div>
  );
};
