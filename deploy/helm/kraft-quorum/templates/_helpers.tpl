{{/* The name of all objects, and of the service that the voters' DNS names contain. At most 52 characters: a pod adds its ordinal. */}}
{{- define "kraft.name" -}}
{{- if .Values.fullnameOverride }}{{ .Values.fullnameOverride }}{{ else if contains "kraft-quorum" .Release.Name }}{{ .Release.Name | trunc 52 | trimSuffix "-" }}{{ else }}{{ printf "%s-kraft-quorum" (.Release.Name | trunc 39 | trimSuffix "-") }}{{ end }}
{{- end }}

{{- define "kraft.selector" -}}
app.kubernetes.io/name: kraft-quorum
app.kubernetes.io/component: controller
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "kraft.labels" -}}
{{ include "kraft.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}

{{- define "kraft.voters" -}}
{{- $name := include "kraft.name" . -}}
{{- range $node := until (int .Values.replicas) }}{{ if $node }},{{ end }}{{ $node }}@{{ $name }}-{{ $node }}.{{ $name }}:9093{{ end }}
{{- end }}

{{- define "kraft.servers" -}}
{{- $name := include "kraft.name" . -}}
{{- range $node := until (int .Values.replicas) }}{{ if $node }},{{ end }}{{ $name }}-{{ $node }}.{{ $name }}:9093{{ end }}
{{- end }}

{{/* Not empty: the voters are static. `auto` keeps those of a release that has them; without a cluster nothing is known of it. */}}
{{- define "kraft.static" -}}
{{- $before := lookup "v1" "ConfigMap" .Release.Namespace (include "kraft.name" .) | default dict -}}
{{- if eq .Values.voters "static" }}true{{ else if eq .Values.voters "auto" }}{{ if hasKey ($before.data | default dict) "KAFKA_CONTROLLER_QUORUM_VOTERS" }}true{{ end }}{{ end }}
{{- end }}

{{/* A key of controller.properties as the image's variable: `-` is `___`, `_` is `__`, `.` is `_`. */}}
{{- define "kraft.variable" -}}
KAFKA_{{ . | replace "_" "__" | replace "-" "___" | replace "." "_" | upper }}
{{- end }}

{{/* The job that deploy/prometheus/alerts.yaml and the dashboard select; the pod's name outlives its address. */}}
{{- define "kraft.relabelings" -}}
- targetLabel: job
  replacement: kraft-controllers
- sourceLabels: [__meta_kubernetes_pod_name]
  targetLabel: instance
{{- end }}
