import { useId, useState } from 'react';
import { Button, IconButton } from '../design/Button.tsx';
import { useTexts } from '../i18n/locale.ts';
import css from './Fields.module.css';
import { texts } from './texts.ts';

/**
 * A secret that the service never tells: what is stored is kept, replaced or removed. `value` undefined keeps it, an
 * empty text removes it.
 */
export const SecretField = (props: {
  /** Such as `API key — openai`. */
  title: string;
  isStored: boolean;
  value: string | undefined;
  onChange: (value: string | undefined) => void;
  error?: string | undefined;
  /** It has lines, as JSON has. */
  isLong?: boolean;
}) => {
  const t = useTexts(texts);
  const id = useId();
  const [isShown, show] = useState(false);
  const [isReplaced, replace] = useState(false);
  const { title, isStored, value, onChange, error } = props;
  const isCleared = isStored && value === '' && !isReplaced;
  const keep = (): void => {
    replace(false);
    show(false);
    onChange(undefined);
  };
  const control = {
    id,
    'aria-labelledby': `${id}-title`,
    autoComplete: 'off',
    value: value ?? '',
    ...(error && { 'aria-invalid': true, 'aria-describedby': `${id}-error` }),
  };
  // Of a secret that was never stored an empty text says nothing.
  const type = (text: string): void => onChange(text === '' && !isStored ? undefined : text);
  return (
    <fieldset className={css.secret}>
      <legend id={`${id}-title`}>{title}</legend>
      {isStored && !isReplaced ? (
        <div className={css.kept}>
          <strong>{t(isCleared ? 'secret.cleared' : 'secret.kept')}</strong>
          <span className={css.buttons}>
            {isCleared ? (
              <Button small onClick={keep}>
                {t('secret.back')}
              </Button>
            ) : (
              <>
                <Button small onClick={() => replace(true)}>
                  {t('secret.replace')}
                </Button>
                <Button small tone="quiet" onClick={() => onChange('')}>
                  {t('secret.clear')}
                </Button>
              </>
            )}
          </span>
        </div>
      ) : (
        <div className={css.typed}>
          {props.isLong && isShown ? (
            <textarea {...control} rows={6} onChange={(event) => type(event.target.value)} />
          ) : (
            <input
              {...control}
              type={isShown ? 'text' : 'password'}
              onChange={(event) => type(event.target.value)}
            />
          )}
          <IconButton
            icon={isShown ? 'lock' : 'eye'}
            label={t(isShown ? 'secret.hide' : 'secret.show')}
            onClick={() => show(!isShown)}
          />
          {isStored && (
            <Button small onClick={keep}>
              {t('secret.back')}
            </Button>
          )}
        </div>
      )}
      {error && (
        <p className={css.error} id={`${id}-error`}>
          {error}
        </p>
      )}
    </fieldset>
  );
};
