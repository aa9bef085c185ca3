import { type ReactNode, useId, useState } from 'react';
import { Button, IconButton } from '../design/Button.tsx';
import { controlLook } from '../design/Field.tsx';
import { useTexts } from '../i18n/locale.ts';
import css from './Entry.module.css';
import texts from './texts.json' with { type: 'json' };

/** Write-only values, which can be kept, replaced or removed as a whole. */

/** The frame of a write-only value: says that it is stored, or contains the input of a new one. */
export const Kept = (props: {
  title: string;
  isStored: boolean;
  isCleared: boolean;
  /** Facts about the stored value. */
  about?: string;
  error?: string | undefined;
  onKeep: () => void;
  onClear: () => void;
  children: (id: string) => ReactNode;
}) => {
  const t = useTexts(texts);
  const id = useId();
  const [isReplaced, replace] = useState(false);
  const isTyped = !props.isStored || isReplaced;
  const keep = (): void => {
    replace(false);
    props.onKeep();
  };
  return (
    <fieldset className={css.box}>
      <legend id={`${id}-title`}>{props.title}</legend>
      {isTyped ? (
        props.children(id)
      ) : (
        <>
          <strong className="quiet">{t(props.isCleared ? 'secret.cleared' : 'secret.kept')}</strong>
          {props.about && <span className="quiet">{props.about}</span>}
        </>
      )}
      {props.isStored && (
        <span className="row">
          {isTyped || props.isCleared ? (
            <Button small onClick={keep}>
              {t('secret.back')}
            </Button>
          ) : (
            <>
              <Button small onClick={() => replace(true)}>
                {t('secret.replace')}
              </Button>
              <Button small tone="quiet" onClick={props.onClear}>
                {t('secret.clear')}
              </Button>
            </>
          )}
        </span>
      )}
      {props.error && (
        <p className="bad" id={`${id}-error`}>
          {props.error}
        </p>
      )}
    </fieldset>
  );
};

/** A secret. An undefined `value` keeps the stored one; an empty text removes it. */
export const SecretField = (props: {
  title: string;
  isStored: boolean;
  value: string | undefined;
  onChange: (value: string | undefined) => void;
  error?: string | undefined;
  /** The secret spans several lines, such as JSON. */
  isLong?: boolean;
}) => {
  const t = useTexts(texts);
  const [isShown, show] = useState(false);
  const { isStored, value = '', onChange, error } = props;
  // An empty text changes nothing if no secret was stored.
  const type = (text: string): void => onChange(text === '' && !isStored ? undefined : text);
  return (
    <Kept
      {...props}
      isCleared={props.value === ''}
      onKeep={() => onChange(undefined)}
      onClear={() => onChange('')}
    >
      {(id) => {
        const control = {
          id,
          className: `${controlLook} mono grow`,
          'aria-labelledby': `${id}-title`,
          autoComplete: 'off',
          value,
          ...(error && ({ 'aria-invalid': true, 'aria-describedby': `${id}-error` } as const)),
        };
        return (
          <span className="row">
            {props.isLong && isShown ? (
              <textarea {...control} rows={6} onChange={({ target }) => type(target.value)} />
            ) : (
              <input
                {...control}
                type={isShown ? 'text' : 'password'}
                onChange={({ target }) => type(target.value)}
              />
            )}
            <IconButton
              icon={isShown ? 'lock' : 'eye'}
              label={t(isShown ? 'secret.hide' : 'secret.show')}
              onClick={() => show(!isShown)}
            />
          </span>
        );
      }}
    </Kept>
  );
};

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
