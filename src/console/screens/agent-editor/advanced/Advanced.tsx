import { isObject } from '../../../data/guard.ts';
import { Json } from '../../../design/Json.tsx';
import { Card } from '../../../design/Layout.tsx';
import { useTexts } from '../../../i18n/locale.ts';
import { ModelSettings } from '../../../model-settings/ModelSettings.tsx';
import { texts as settingTexts } from '../../../model-settings/texts.ts';
import { isLocal } from '../draft.ts';
import { Resettable } from '../Overridden.tsx';
import { Compaction } from './Compaction.tsx';
import { ContextPolicy } from './ContextPolicy.tsx';
import type { AdvancedProps } from './props.ts';
import { RawJson } from './RawJson.tsx';
import { texts } from './texts.ts';

/** Settings of the model calls, how much of a conversation a model gets, and everything at once as JSON. */

export const Advanced = (props: AdvancedProps) => {
  const t = useTexts(texts);
  const settings = useTexts(settingTexts);
  const { draft } = props;
  return (
    <>
      {isLocal(draft, props.localKind) && (
        <Card title={settings('title')}>
          <ModelSettings
            spec={draft}
            errors={props.errors}
            change={props.change}
            onUnread={props.onUnread}
            wrap={(field, content) => (
              <Resettable key={field} field={field}>
                {content}
              </Resettable>
            )}
          />
        </Card>
      )}
      <Resettable field="context_policy">
        <ContextPolicy {...props} />
      </Resettable>
      <Compaction {...props} />
      {isObject(draft.endpoint) && (
        <Card title={t('endpoint')}>
          <Json value={{ endpoint: draft.endpoint }} label={t('endpoint')} />
        </Card>
      )}
      <RawJson {...props} />
    </>
  );
};
