import { CountField } from '../../../design/CountField.tsx';
import { Field } from '../../../design/Field.tsx';
import { useTexts } from '../../../i18n/locale.ts';
import { isLocal } from '../draft.ts';
import { Resettable } from '../Overridden.tsx';
import { Backend } from './Backend.tsx';
import { BackendConfig } from './BackendConfig.tsx';
import css from './Basics.module.css';
import { ModelField } from './ModelField.tsx';
import { Prompt } from './Prompt.tsx';
import type { BasicsProps } from './props.ts';
import { ReasoningEffort } from './ReasoningEffort.tsx';
import { StartFrom } from './StartFrom.tsx';
import { StopConditions } from './StopConditions.tsx';
import { texts } from './texts.ts';

/** What an agent is: its name, its model, its prompt, and when it stops. */

const Identity = ({ draft, change, errors, isNew }: BasicsProps) => {
  const t = useTexts(texts);
  const { description } = draft;
  return (
    <>
      <Field
        label={t('id')}
        error={errors.get('id')}
        {...(isNew ? { required: true } : { hint: t('id.fixed') })}
      >
        {(control) => (
          <input
            {...control}
            type="text"
            className={css.mono}
            value={draft.id}
            readOnly={!isNew}
            spellCheck={false}
            autoComplete="off"
            onChange={(event) => change({ id: event.target.value.trim() })}
          />
        )}
      </Field>
      <Resettable field="description">
        <Field label={t('description')} hint={t('description.hint')} error={errors.get('description')}>
          {(control) => (
            <input
              {...control}
              type="text"
              value={typeof description === 'string' ? description : ''}
              onChange={(event) => change({ description: event.target.value || undefined })}
            />
          )}
        </Field>
      </Resettable>
    </>
  );
};

const Limits = ({ draft, change, errors }: BasicsProps) => {
  const t = useTexts(texts);
  return (
    <div className={css.three}>
      {(['max_rounds', 'max_continuation_retries'] as const).map((field) => (
        <Resettable key={field} field={field}>
          <CountField
            label={t(field)}
            hint={t(`${field}.hint`)}
            value={draft[field]}
            error={errors.get(field)}
            onChange={(value) => change({ [field]: value ?? '' })}
          />
        </Resettable>
      ))}
      <Resettable field="reasoning_effort">
        <ReasoningEffort
          value={draft.reasoning_effort}
          error={errors.get('reasoning_effort')}
          onChange={(value) => change({ reasoning_effort: value })}
        />
      </Resettable>
    </div>
  );
};

export const Basics = (props: BasicsProps) => {
  const { draft, change, capabilities, errors, isNew, localKind } = props;
  const local = isLocal(draft, localKind);
  return (
    <div className={css.form}>
      {isNew && (
        <StartFrom
          agents={capabilities.agents}
          localKind={localKind}
          id={draft.id}
          onTake={props.onReplace}
        />
      )}
      <div className={css.two}>
        <Identity {...props} />
      </div>
      <div className={css.placed}>
        {local && (
          <Resettable field="model_id">
            <ModelField
              value={typeof draft.model_id === 'string' ? draft.model_id : ''}
              capabilities={capabilities}
              error={errors.get('model_id')}
              onChange={(model_id) => change({ model_id })}
            />
          </Resettable>
        )}
        {capabilities.backends.length > 1 && <Backend {...props} />}
      </div>
      {!local && <BackendConfig {...props} />}
      <Limits {...props} />
      {local && (
        <Resettable field="system_prompt">
          <Prompt
            value={typeof draft.system_prompt === 'string' ? draft.system_prompt : ''}
            error={errors.get('system_prompt')}
            onChange={(system_prompt) => change({ system_prompt })}
          />
        </Resettable>
      )}
      <Resettable field="stop_conditions">
        <StopConditions
          value={draft.stop_conditions}
          errors={errors}
          onChange={(stop_conditions) => change({ stop_conditions })}
        />
      </Resettable>
    </div>
  );
};
