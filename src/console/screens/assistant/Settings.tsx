import { useMutation } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { adminAssistant, type BoundTool } from '../../assistant-chat/state.ts';
import { statusOf } from '../../data/error.ts';
import { number, object, optional, text, withDefault } from '../../data/guard.ts';
import { invalidate, type Resource, useResource } from '../../data/queries.ts';
import { NamedRecord, recordsOf } from '../../data/records.ts';
import { send } from '../../data/request.ts';
import { capabilities } from '../../data/resources.ts';
import { Button } from '../../design/Button.tsx';
import { Chip } from '../../design/Chip.tsx';
import { ConfirmDialog } from '../../design/Dialog.tsx';
import { Icon } from '../../design/Icon.tsx';
import { SelectField, TextField } from '../../design/Inputs.tsx';
import { Card } from '../../design/Layout.tsx';
import { Loaded } from '../../design/Loaded.tsx';
import { toast, toastError } from '../../feedback/toasts.ts';
import { useFormat, useTexts } from '../../i18n/locale.ts';
import { UnsavedGuard } from '../../navigation/UnsavedGuard.tsx';
import texts from './texts.json' with { type: 'json' };

/** Settings of the assistant. A save sends the revision on which it is based. */

const AssistantConfig = object({
  policy_prompt: withDefault(text, ''),
  model_id: optional(text),
  revision: number,
});
type AssistantConfig = ReturnType<typeof AssistantConfig>;

const PATH = '/v1/admin/assistant/config';

const assistantConfig: Resource<AssistantConfig> = { path: PATH, guard: AssistantConfig };

const MOST_BYTES = 8192;

/** Counted like the service: UTF-8 bytes. */
const bytesOf = (policy: string): number => new TextEncoder().encode(policy.trim()).length;

/** The edited settings; an empty model id lets the service choose the model. */
type Form = { policy: string; modelId: string };

const formOf = ({ policy_prompt, model_id }: AssistantConfig): Form => ({
  policy: policy_prompt,
  modelId: model_id ?? '',
});

const isChanged = (form: Form, config: AssistantConfig): boolean => {
  const stored = formOf(config);
  return form.policy.trim() !== stored.policy || form.modelId !== stored.modelId;
};

const bodyOf = ({ policy, modelId }: Form, { revision }: AssistantConfig): object => ({
  id: 'default',
  policy_prompt: policy,
  model_id: modelId === '' ? null : modelId,
  revision,
});

type FieldProps = { value: string; onChange: (value: string) => void };

const ModelField = ({ value, error, onChange }: FieldProps & { error: string | undefined }) => {
  const t = useTexts(texts);
  const models = useResource(capabilities).data?.models ?? [];
  const pools = useResource(recordsOf('model-pools', NamedRecord)).data ?? [];
  const chosen = useResource(adminAssistant).data?.model_id;
  const known = [...new Set([...models, ...pools].map(({ id }) => id).concat(value || []))].sort();
  return (
    <SelectField
      label={t('common.model')}
      hint={t('model.hint')}
      options={[['', chosen === undefined ? t('model.none') : t('model.auto', { id: chosen })], ...known]}
      {...{ value, error, onChange }}
    />
  );
};

const PolicyField = ({ value, onChange }: FieldProps) => {
  const t = useTexts(texts);
  const format = useFormat();
  const bytes = bytesOf(value);
  const count = t('policy.bytes', { used: format.number(bytes), most: format.number(MOST_BYTES) });
  const error = bytes > MOST_BYTES ? t('policy.long') : undefined;
  return (
    <TextField
      label={t('policy')}
      hint={`${t('policy.hint')} ${count}`}
      rows={8}
      {...{ value, error, onChange }}
    />
  );
};

/** The stored settings and the edited form. A concurrent save is reported as a conflict and not overwritten. */
const useSettings = (config: AssistantConfig, reload: () => Promise<unknown>) => {
  const t = useTexts(texts);
  const [form, setForm] = useState<Form>(() => formOf(config));
  const [base, setBase] = useState(config);
  const [refused, setRefused] = useState<string>();
  const [isConflict, setConflict] = useState(false);
  const save = useMutation({
    mutationFn: () => send({ method: 'PUT', path: PATH, body: bodyOf(form, base) }, AssistantConfig),
    onSuccess(saved) {
      setBase(saved);
      setForm(formOf(saved));
      invalidate(PATH, '/v1/capabilities', '/v1/audit-log');
      toast('success', t('saved'));
    },
    onError(error) {
      if (statusOf(error) === 409) setConflict(true);
      else if (statusOf(error) === 400) setRefused(error.message);
      else toastError(error);
    },
  });
  // The form is unchanged, so show the settings that another operator has saved.
  if (config.revision > base.revision && !isChanged(form, base)) {
    setBase(config);
    setForm(formOf(config));
  }
  return {
    form,
    isDirty: isChanged(form, base),
    refused,
    isConflict,
    isSaving: save.isPending,
    save: () => save.mutate(),
    change(changed: Partial<Form>) {
      setRefused(undefined);
      setForm({ ...form, ...changed });
    },
    keep: () => setConflict(false),
    async takeTheirs() {
      setConflict(false);
      setForm(formOf(base));
      await reload();
    },
  };
};

const SettingsForm = ({ config, reload }: { config: AssistantConfig; reload: () => Promise<unknown> }) => {
  const t = useTexts(texts);
  const settings = useSettings(config, reload);
  const { form, change } = settings;
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    settings.save();
  };
  return (
    <form className="stack" data-wide onSubmit={submit} noValidate>
      <UnsavedGuard isDirty={settings.isDirty} />
      <ModelField value={form.modelId} error={settings.refused} onChange={(modelId) => change({ modelId })} />
      <PolicyField value={form.policy} onChange={(policy) => change({ policy })} />
      <div className="row spread" style={{ color: 'var(--warn)' }}>
        <span>{settings.isDirty && t('unsaved')}</span>
        <Button
          type="submit"
          tone="primary"
          disabled={!settings.isDirty || settings.isSaving || bytesOf(form.policy) > MOST_BYTES}
        >
          {t('common.save')}
        </Button>
      </div>
      {settings.isConflict && (
        <ConfirmDialog
          title={t('conflict.title')}
          confirm={t('conflict.theirs')}
          cancel={t('common.keepEditing')}
          onConfirm={() => void settings.takeTheirs()}
          onClose={settings.keep}
        >
          <p>{t('conflict.text')}</p>
        </ConfirmDialog>
      )}
    </form>
  );
};

/** The fixed part of the assistant: its instructions and its tools. */
const BoundTools = ({ tools }: { tools: readonly BoundTool[] }) => {
  const t = useTexts(texts);
  return (
    <Card title={t('locked')} note={t('locked.note')} flush>
      <ul className="divided">
        <li className="item">
          <Icon name="lock" size={14} />
          {t('locked.prompt')}
        </li>
        {tools.map(({ id, label, description, requires_confirmation }) => (
          <li key={id} className="item" title={description}>
            <Icon name="lock" size={14} />
            <code className="grow cut">{id}</code>
            <span className="visually-hidden">{label}</span>
            {requires_confirmation && <Chip tone="warn">{t('locked.asks')}</Chip>}
          </li>
        ))}
      </ul>
    </Card>
  );
};

/** The settings that an operator can change, and the fixed ones. */
export const Settings = () => {
  const t = useTexts(texts);
  const query = useResource(assistantConfig);
  const assistant = useResource(adminAssistant).data;
  return (
    <>
      <Card title={t('settings')}>
        <Loaded query={query}>
          {(config) => <SettingsForm config={config} reload={() => query.refetch()} />}
        </Loaded>
      </Card>
      {assistant && <BoundTools tools={assistant.bound_tools} />}
    </>
  );
};
