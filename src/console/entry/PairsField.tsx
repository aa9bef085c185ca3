import { useState } from 'react';
import { Button, IconButton } from '../design/Button.tsx';
import { controlLook } from '../design/Field.tsx';
import { useTexts } from '../i18n/locale.ts';
import texts from './texts.json' with { type: 'json' };

type Pair = { key: number; name: string; value: string };
type Pairs = Readonly<Record<string, string>>;

const asObject = (pairs: readonly Pair[]): Pairs =>
  Object.fromEntries(
    pairs.filter(({ name }) => name.trim() !== '').map(({ name, value }) => [name.trim(), value]),
  );

const rowsOf = (value: Pairs): readonly Pair[] =>
  Object.entries(value).map(([name, text], key) => ({ key, name, value: text }));

/** Pairs of a name and a secret value, such as headers. Pairs without a name are ignored. */
export const PairsField = (props: { value: Pairs; onChange: (value: Pairs) => void }) => {
  const t = useTexts(texts);
  const [typed, type] = useState(() => rowsOf(props.value));
  // A value set from outside replaces the typed rows.
  const isOwn = JSON.stringify(asObject(typed)) === JSON.stringify(props.value);
  const pairs = isOwn ? typed : rowsOf(props.value);
  const put = (next: readonly Pair[]): void => {
    type(next);
    props.onChange(asObject(next));
  };
  const input = (pair: Pair, field: 'name' | 'value', label: string) => (
    <input
      aria-label={label}
      placeholder={t(`pairs.${field}`)}
      className={`${controlLook} mono grow`}
      type={field === 'value' ? 'password' : 'text'}
      autoComplete="off"
      value={pair[field]}
      onChange={({ target }) =>
        put(pairs.map((other) => (other.key === pair.key ? { ...pair, [field]: target.value } : other)))
      }
    />
  );
  return (
    <>
      {pairs.map((pair) => (
        <div key={pair.key} className="row">
          {input(pair, 'name', t('pairs.name'))}
          {input(pair, 'value', `${t('pairs.value')} ${pair.name}`)}
          <IconButton
            small
            icon="close"
            label={t('pairs.remove', { name: pair.name })}
            onClick={() => put(pairs.filter(({ key }) => key !== pair.key))}
          />
        </div>
      ))}
      <Button
        small
        icon="plus"
        onClick={() =>
          put([...pairs, { key: Math.max(-1, ...pairs.map(({ key }) => key)) + 1, name: '', value: '' }])
        }
      >
        {t('pairs.add')}
      </Button>
    </>
  );
};
