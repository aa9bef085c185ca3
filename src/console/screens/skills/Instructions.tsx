import { Code, Markdown } from '../../chat/markdown/Markdown.tsx';
import type { JsonObject } from '../../data/guard.ts';
import { redactText } from '../../data/redact-text.ts';
import { Field } from '../../design/Field.tsx';
import { Card } from '../../design/Layout.tsx';
import { Scroller } from '../../design/Scroller.tsx';
import { useFormat, useTexts } from '../../i18n/locale.ts';
import { activeText, listedText } from './injected.ts';
import css from './Skills.module.css';
import { texts } from './texts.ts';

/** To the letter, for who wonders what a model makes of it. */
const Injected = ({ skill }: { skill: JsonObject }) => {
  const t = useTexts(texts);
  const listed = listedText(skill);
  return (
    <details className={css.injected} data-testid="skill-injected">
      <summary>{t('injected')}</summary>
      <h3>{t('injected.listed')}</h3>
      {listed === undefined ? (
        <p className={css.note}>{t('injected.hidden')}</p>
      ) : (
        <Code language="" text={redactText(listed)} />
      )}
      <h3>{t('injected.active')}</h3>
      <Code language="" text={redactText(activeText(skill))} />
    </details>
  );
};

/** What an agent is told once it takes the skill up, as it is written and as it reads. */
export const Instructions = (props: {
  skill: JsonObject;
  value: string;
  error: string | undefined;
  onChange: (value: string) => void;
}) => {
  const t = useTexts(texts);
  const format = useFormat();
  const { value } = props;
  const size = t('instructions.size', {
    characters: format.number([...value].length),
    tokens: format.number(Math.ceil(value.length / 4)),
  });
  return (
    <Card title={t('instructions')} note={size}>
      <div className={css.written}>
        <Field label={t('instructions.label')} error={props.error} required>
          {(control) => (
            <textarea
              {...control}
              className={css.markdown}
              value={value}
              onChange={(event) => props.onChange(event.target.value)}
            />
          )}
        </Field>
        <div className={css.preview}>
          <h3>{t('preview')}</h3>
          <Scroller label={t('preview')} className={css.reads}>
            {value.trim() === '' ? (
              <p className={css.note}>{t('preview.none')}</p>
            ) : (
              <Markdown text={value} />
            )}
          </Scroller>
        </div>
      </div>
      <Injected skill={props.skill} />
    </Card>
  );
};
