import { Code } from '../../chat/markdown/Code.tsx';
import { Markdown } from '../../chat/markdown/Markdown.tsx';
import { redactText } from '../../data/redact-text.ts';
import { TextField } from '../../design/Inputs.tsx';
import { Scroller } from '../../design/Scroller.tsx';
import shared from '../../entry/Entry.module.css';
import { type EntryDescriptor, useEntryForm } from '../../entry/EntryFields.tsx';
import { type Spec, textOf } from '../../entry/entry.ts';
import { useFormat, useTexts } from '../../i18n/locale.ts';
import type { SeenProps } from '../../schema-form/context.ts';
import css from './Skills.module.css';
import { activeText, listedText } from './skill.ts';
import texts from './texts.json' with { type: 'json' };

/** The exact texts that a model receives. */
const Injected = ({ skill }: { skill: Spec }) => {
  const t = useTexts(texts);
  const listed = listedText(skill);
  return (
    <details className={shared.box} data-testid="skill-injected">
      <summary>{t('injected')}</summary>
      <h3>{t('injected.listed')}</h3>
      {listed === undefined ? (
        <p className="quiet">{t('injected.hidden')}</p>
      ) : (
        <Code language="" text={redactText(listed)} />
      )}
      <h3>{t('injected.active')}</h3>
      <Code language="" text={redactText(activeText(skill))} />
    </details>
  );
};

/** The instructions as source and rendered. */
const Instructions = (props: SeenProps) => {
  const t = useTexts(texts);
  const format = useFormat();
  const { draft, errors } = useEntryForm();
  const value = textOf(props.value);
  const size = t('instructions.size', {
    characters: format.number([...value].length),
    tokens: format.number(Math.ceil(value.length / 4)),
  });
  return (
    <div className={css.instructions}>
      <div className={css.written}>
        <TextField
          label={props.label}
          hint={size}
          error={errors.get(props.path)}
          required
          className={css.markdown}
          value={value}
          onChange={props.onChange}
        />
        <Scroller label={t('preview')} className={`${shared.box} ${css.reads}`}>
          <h3>{t('preview')}</h3>
          {value.trim() === '' ? <p className="quiet">{t('preview.none')}</p> : <Markdown text={value} />}
        </Scroller>
      </div>
      <Injected skill={draft} />
    </div>
  );
};

const SHORT = { 'ui:widget': 'textarea', 'ui:options': { rows: 2 } };
const CHECKED = { 'ui:widget': 'checkbox' };

export const SKILL: EntryDescriptor = {
  namespace: 'skills',
  entity: 'entity.skill',
  texts,
  start: { id: '', name: '', description: '', instructions_md: '' },
  fields: ({ paths }, group) => [
    'id',
    'name',
    'description',
    'when_to_use',
    'instructions_md',
    group('activation', ['user_invocable', 'model_invocable', 'context', 'model_override']),
    group('arguments', [
      'argument_hint',
      'arguments',
      'allowed_tools',
      ...(Array.isArray(paths) ? ['paths'] : []),
    ]),
  ],
  ui: {
    description: SHORT,
    when_to_use: SHORT,
    instructions_md: { 'ui:widget': 'instructions' },
    user_invocable: CHECKED,
    model_invocable: CHECKED,
    arguments: { items: { required: CHECKED } },
  },
  widgets: { instructions: Instructions },
};
