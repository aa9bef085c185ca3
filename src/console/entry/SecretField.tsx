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
