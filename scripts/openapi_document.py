# SPDX-License-Identifier: MIT
"""openapi_document.py - the structure of an OpenAPI 3.1 document, as far as docs/schema/openapi.json uses it

There is no package with the schema of OpenAPI 3.1. DOCUMENT is a schema of the objects that occur; it allows no other keys, so
that a misspelt one is found. Only `parameters`, `headers` and `responses` are references to `components`.
"""
import json
import re

from schema_answers import SCHEMAS, jsonschema, said

METHODS = ("get", "post")


def an_object(required, /, **properties):
    return {"type": "object", "required": required.split(), "properties": properties, "additionalProperties": False}


def a_map(of):
    return {"type": "object", "additionalProperties": of}


def or_reference(node):
    return {"if": {"type": "object", "required": ["$ref"]}, "else": node,
            "then": an_object("$ref", **{"$ref": {"type": "string"}})}


TEXT_ = {"type": "string", "minLength": 1}
SCHEMA = {"$ref": "https://json-schema.org/draft/2020-12/schema"}
MEDIA = a_map(an_object("", schema=SCHEMA))
PARAMETER = an_object("name in description schema", **{"in": {"enum": ["query", "path"]}}, name=TEXT_, description=TEXT_,
                      required={"type": "boolean"}, schema=SCHEMA)
PARAMETER["if"] = {"properties": {"in": {"const": "path"}}}
PARAMETER["then"] = {"required": ["required"], "properties": {"required": {"const": True}}}
HEADER = an_object("description schema", description=TEXT_, schema=SCHEMA)
RESPONSE = an_object("description content", description=TEXT_, headers=a_map(or_reference(HEADER)), content=MEDIA)
SECURITY = {"type": "array", "items": a_map({"type": "array", "maxItems": 0})}
OPERATION = an_object(
    "operationId tags summary responses", operationId={"type": "string", "pattern": "^[a-zA-Z]+$"}, summary=TEXT_, security=SECURITY,
    tags={"type": "array", "items": TEXT_, "minItems": 1}, parameters={"type": "array", "items": or_reference(PARAMETER)},
    responses={"type": "object", "propertyNames": {"pattern": "^(default|[2-5][0-9]{2})$"}, "minProperties": 2,
               "required": ["default"], "additionalProperties": or_reference(RESPONSE)})
SECRET = {"oneOf": [
    an_object("type scheme description", type={"const": "http"}, scheme={"const": "bearer"}, description=TEXT_),
    an_object("type in name description", type={"const": "apiKey"}, **{"in": {"const": "header"}}, name=TEXT_, description=TEXT_)]}
NAMES = {"propertyNames": {"pattern": "^[a-zA-Z0-9._-]+$"}}
DOCUMENT = an_object(
    "openapi info jsonSchemaDialect servers security tags paths components", openapi={"const": "3.1.0"},
    info=an_object("title version summary description license", title=TEXT_, version=TEXT_, summary=TEXT_, description=TEXT_,
                   license=an_object("name identifier", name=TEXT_, identifier=TEXT_)),
    jsonSchemaDialect={"const": "https://json-schema.org/draft/2020-12/schema"}, security=SECURITY,
    servers={"type": "array", "items": an_object("url", url={"const": "/"}), "minItems": 1, "maxItems": 1},
    tags={"type": "array", "items": an_object("name description", name=TEXT_, description=TEXT_)},
    paths={"type": "object", "propertyNames": {"pattern": "^/"}, "additionalProperties": an_object("", get=OPERATION, post=OPERATION)},
    components=an_object("parameters headers responses securitySchemes", parameters=a_map(PARAMETER) | NAMES,
                         headers=a_map(HEADER) | NAMES, responses=a_map(RESPONSE) | NAMES, securitySchemes=a_map(SECRET) | NAMES))


def references(node):
    """Yield every reference of the document."""
    if isinstance(node, dict):
        if isinstance(node.get("$ref"), str):
            yield node["$ref"]
        for value in node.values():
            yield from references(value)
    elif isinstance(node, list):
        for value in node:
            yield from references(value)


def at(reference, document):
    """What a reference leads to."""
    file, _, path = reference.partition("#")
    node = json.loads((SCHEMAS / file).read_text()) if file else document
    for key in filter(None, path.split("/")):
        node = node[key]
    return node


def operations(document):
    for path, item in document["paths"].items():
        for method in METHODS:
            if method in item:
                yield path, method, item[method]


def parameters(document, operation):
    """The parameters of an operation by name."""
    found = [at(p["$ref"], document) if "$ref" in p else p for p in operation.get("parameters", [])]
    return {p["name"]: p for p in found}


def check_document(document):
    """Yield what is wrong with the document by itself."""
    yield from said(jsonschema.Draft202012Validator(DOCUMENT), document)
    used = set(references(document))
    for reference in sorted(used):
        try:
            at(reference, document)
        except (OSError, KeyError) as e:
            yield f"{reference}: leads nowhere: {e!r}"
    for kind in ("parameters", "headers", "responses"):
        yield from (f"{kind}/{name}: is not used" for name in document["components"][kind]
                    if f"#/components/{kind}/{name}" not in used)
    ids = [operation["operationId"] for _, _, operation in operations(document)]
    yield from (f"operationId {one}: is not unique" for one in set(ids) if ids.count(one) > 1)
    tags = {tag["name"] for tag in document["tags"]}
    schemes = set(document["components"]["securitySchemes"])
    for path, method, operation in operations(document):
        of_path = {p["name"] for p in parameters(document, operation).values() if p["in"] == "path"}
        if set(re.findall(r"\{(\w+)\}", path)) != of_path:
            yield f"{method} {path}: its parameters are {sorted(of_path)}"
        if not set(operation["tags"]) <= tags or any(not set(one) <= schemes for one in operation.get("security", [])):
            yield f"{method} {path}: an unknown tag or security scheme"
