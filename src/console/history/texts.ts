import { defineTexts } from '../i18n/texts.ts';

/** What is said of messages wherever they are shown. */
export const texts = defineTexts(
  {
    internal: 'internal',
    more: 'Show all {count} characters',
    call: 'Calls {name}',
    provider: '{name}, executed by the model provider',
    sources: 'Sources',
    thinking: 'Reasoning',
    'role.user': 'User',
    'role.assistant': 'Agent',
    'role.tool': 'Tool',
    'role.system': 'System',
  },
  {
    internal: '内部',
    more: '显示全部 {count} 个字符',
    call: '调用 {name}',
    provider: '{name}，由模型提供商执行',
    sources: '来源',
    thinking: '推理过程',
    'role.user': '用户',
    'role.assistant': '智能体',
    'role.tool': '工具',
    'role.system': '系统',
  },
);
