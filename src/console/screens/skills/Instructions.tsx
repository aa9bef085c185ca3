import { Markdown } from '../../chat/markdown/Markdown.tsx';
import { Field } from '../../design/Field.tsx';
import { Card } from '../../design/Layout.tsx';
import { Scroller } from '../../design/Scroller.tsx';
import { useFormat, useTexts } from '../../i18n/locale.ts';
import css from './Skills.module.css';
import { texts } from './texts.ts';

/** What an agent is told once it takes the skill up, as it is written and as it reads. */
export const Instructions = (props: {
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
    </Card>
  );
};
