import { type KeyboardEvent, useState } from 'react';
import { IconButton } from '../../../design/Button.tsx';
import { Field } from '../../../design/Field.tsx';
import { useFormat, useTexts } from '../../../i18n/locale.ts';
import { type SeenProps, useForm } from '../../../schema-form/context.ts';
import css from './Prompt.module.css';
import { countsOf, piecesOf } from './prompt-text.ts';
import texts from './texts.json' with { type: 'json' };

/**
 * A text area that grows with its content. An identical text behind it determines its height, highlights variables and
 * numbers the lines, including wrapped ones.
 */

const Behind = ({ text }: { text: string }) => {
  let line = 0;
  return (
    <div className={css.behind} aria-hidden="true">
      {text.split('\n').map((content) => {
        line += 1;
        return (
          <div key={line} className={css.line}>
            {piecesOf(content).map((piece) =>
              piece.isVariable ? (
                <mark key={piece.at}>{piece.text}</mark>
              ) : (
                <span key={piece.at}>{piece.text}</span>
              ),
            )}
            {content === '' && '\u200b'}
          </div>
        );
      })}
    </div>
  );
};

export const Prompt = ({ label, path, value, onChange }: SeenProps) => {
  const t = useTexts(texts);
  const format = useFormat();
  const error = useForm().errors.get(path);
  const text = typeof value === 'string' ? value : '';
  const [isNumbered, number] = useState(false);
  const [isFull, fill] = useState(false);
  const counts = countsOf(text);
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key !== 'Escape' || !isFull) return;
    event.preventDefault();
    fill(false);
  };
  return (
    <div className={css.prompt} data-full={isFull || undefined} data-numbered={isNumbered || undefined}>
      <span className={css.tools}>
        <IconButton
          small
          icon="menu"
          label={t('prompt.lines')}
          aria-pressed={isNumbered}
          onClick={() => number(!isNumbered)}
        />
        <IconButton
          small
          icon={isFull ? 'close' : 'screen'}
          label={t(isFull ? 'prompt.small' : 'prompt.full')}
          aria-pressed={isFull}
          onClick={() => fill(!isFull)}
        />
      </span>
      <Field
        label={label}
        error={error}
        hint={t('prompt.counts', {
          characters: format.number(counts.characters),
          count: counts.lines,
          tokens: format.number(counts.tokens),
        })}
      >
        {(control) => (
          <div className={css.stack}>
            <Behind text={text} />
            <textarea
              {...control}
              rows={6}
              placeholder={t('prompt.empty')}
              spellCheck={false}
              value={text}
              onChange={(event) => onChange(event.target.value)}
              onKeyDown={onKeyDown}
            />
          </div>
        )}
      </Field>
    </div>
  );
};
